"""The brokers that the lab can start, and a set of them started together."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mqlab.lab.brokers import hivemq, kafka, mosquitto, rocketmq
from mqlab.lab.brokers.base import Broker, Node, Wanted
from mqlab.lab.errors import BrokerError, LabError
from mqlab.lab.home import Home
from mqlab.lab.processes import Processes, wait_for
from mqlab.lab.resources import LOOPBACK, check_ports, check_space

BUILDERS: Mapping[str, Callable[[Wanted, Home, int], Broker]] = {
    "kafka": kafka.broker,
    "mosquitto": mosquitto.broker,
    "rocketmq": rocketmq.broker,
    "hivemq": hivemq.broker,
}
PORTS = 17000
"""The first port of a lab; each broker has a hundred."""


def addresses(wanted: Sequence[Wanted], base: int) -> dict[str, str]:
    """First address by name, before anything is started."""
    return {one.label: f"{LOOPBACK}:{base + 100 * n}" for n, one in enumerate(wanted)}


def filled(settings: Mapping[str, object], known: Mapping[str, str]) -> dict[str, str | int | float | bool]:
    """Settings in which ``{name}`` became the address of the broker of that name."""
    done: dict[str, str | int | float | bool] = {}
    for key, value in settings.items():
        text = value
        for name, address in known.items():
            text = text.replace(f"{{{name}}}", address) if isinstance(text, str) else text
        done[key] = text if isinstance(text, (int, float, bool)) else str(text)
    return done


@dataclass
class Stage:
    """Brokers that run."""

    processes: Processes
    brokers: list[Broker] = field(default_factory=list)

    def up(self, wanted: Sequence[Wanted], base: int, tell: Callable[[str], None]) -> None:
        """Check, set up and start all of *wanted*; what started is in ``processes`` even where this raises.

        Raises:
            TooLittleError: a port is taken or memory short.
            BrokerError: one did not come up.
        """
        home, known = self.processes.home, addresses(wanted, base)
        for n, one in enumerate(wanted):
            if one.software not in BUILDERS:
                raise LabError(f"The lab has no {one.software}. Known: {', '.join(BUILDERS)}.")
            tell(f"fetching and setting up {one.label} {one.version}".rstrip())
            own = replace(one, settings=filled(one.settings, known))
            self.brokers.append(BUILDERS[one.software](own, home, base + 100 * n))
        nodes = [node for each in self.brokers for node in each.nodes]
        check_ports([p for node in nodes for p in (node.port, node.metrics_port) if p])
        check_space(sum(each.megabytes for each in self.brokers), home.root)
        for each in self.brokers:
            self._prepare(each)
            tell(f"starting {each.wanted.label} at {each.address}")
            for node in each.nodes:
                self.processes.start(node.command)
                if each.wanted.software != "kafka" or node.name == "zookeeper":
                    self._await(node)
            for node in each.nodes:
                self._await(node)

    def node(self, name: str) -> Node:
        """The node of this name."""
        return next(node for each in self.brokers for node in each.nodes if node.name == name)

    def again(self, name: str) -> None:
        """Start one node that was stopped or killed, and wait for it."""
        self.processes.running[name].wait(60)
        self.processes.start(self.node(name).command)
        self._await(self.node(name))

    def address(self, name: str) -> str:
        """What clients of the broker of this name connect to."""
        return next(each.address for each in self.brokers if each.wanted.label == name)

    def _await(self, node: Node) -> None:
        wait_for(node.name, node.ready, self.processes, node.command.output)

    def _prepare(self, broker: Broker) -> None:
        """Run what comes once before the first start, all at a time."""
        started = [(command, self.processes.start(command)) for command in broker.prepared]
        for command, process in started:
            try:
                code = process.wait(60)
            except subprocess.TimeoutExpired:
                code = -1
            if code:
                raise BrokerError(command.name, f"ended with status {code}", str(command.output))
            del self.processes.running[command.name]


def fresh(home: Home) -> Path:
    """The folder of brokers, empty: every lab begins with none of the last one's data."""
    shutil.rmtree(home.work, ignore_errors=True)
    home.work.mkdir(parents=True)
    return home.work
