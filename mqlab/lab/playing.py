"""A scenario played: brokers up, loads and steps by the clock, samples meanwhile, everything gathered at the end."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep, time
from typing import Any

from mqlab.gather.manifest import now, stamp
from mqlab.lab import kafka_admin
from mqlab.lab.brokers import rocketmq
from mqlab.lab.brokers.registry import Stage
from mqlab.lab.counting import Books, Committed, Ends, groups_of, read_facts
from mqlab.lab.launching import command_of, prepare, written_settings
from mqlab.lab.loads.registry import KINDS
from mqlab.lab.sampling import Sampler
from mqlab.lab.scenario import Scenario, Step, Topic

Tell = Callable[[str], None]
_SIGNALS = {
    "stop": signal.SIGTERM,
    "kill": signal.SIGKILL,
    "freeze": signal.SIGSTOP,
    "thaw": signal.SIGCONT,
}
_FOLDERS = ("clients", "configs", "logs")


@dataclass(frozen=True)
class Played:
    """One run that has ended."""

    folder: Path
    window: tuple[float, float]
    """Seconds since 1970 of its begin and of the moment at which the capture was taken."""
    steps: tuple[tuple[float, Step], ...]
    """What was done when."""
    books: Books

    @property
    def capture(self) -> Path:
        """What an engineer would have gathered."""
        return self.folder / "capture"


@dataclass
class Play:
    """One scenario under way."""

    scenario: Scenario
    stage: Stage
    folder: Path
    tell: Tell
    done: list[tuple[float, Step]] = field(default_factory=list)
    exporting: dict[str, int] = field(default_factory=dict)
    """Ports of the exporters of loads."""

    @property
    def live(self) -> Path:
        """Where loads write while they run."""
        return self.folder / "live"

    def run(self, ports: int) -> Played:
        """Play from the first broker to the capture; brokers and loads run on until their owner closes them.

        Raises:
            LabError: a broker did not come up, or a load ended unasked at its start.
        """
        for name in _FOLDERS:
            (self.live / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "facts").mkdir()
        for load in self.scenario.loads:
            prepare(load, self.stage.processes.home)
        self.stage.up(self.scenario.brokers, ports, self.tell)
        self._make_topics()
        sampler = Sampler(self.stage.brokers, self._exporters(ports), self.live, self.scenario.every)
        begun = time()
        sampler.start()
        self._follow()
        sampler.stop()
        committed, ends = self._positions()
        ended = time()
        self._gather()
        log = [record for topic in self._topics() for record in self._stored(topic)]
        facts = read_facts(self.folder / "facts")
        books = Books(self.scenario, self.folder / "capture" / "clients", facts, tuple(log), committed, ends)
        return Played(self.folder, (begun, ended), tuple(self.done), books)

    def _make_topics(self) -> None:
        for broker in self.stage.brokers:
            own = [topic for topic in self.scenario.topics if topic.broker == broker.wanted.label]
            if broker.wanted.software == "kafka":
                kafka_admin.make_topics(broker.address, own, broker.wanted.nodes)
            elif broker.wanted.software == "rocketmq":
                rocketmq.make_topics(broker, {topic.name: topic.partitions for topic in own})

    def _exporters(self, ports: int) -> dict[str, int]:
        """Port of each exporter by name; where metrics are wanted, Java loads get one of their own."""
        found = {n.name: n.metrics_port for b in self.stage.brokers for n in b.nodes if n.metrics_port}
        java = [load.name for load in self.scenario.loads if KINDS[load.kind].main and self.scenario.metrics]
        self.exporting = {name: ports + 80 + n for n, name in enumerate(java)}
        return {**found, **self.exporting}

    def _follow(self) -> None:
        """Do everything at its time."""
        starts = [Step(load.at, "start", (load.name,)) for load in self.scenario.loads if load.at >= 0]
        begun = monotonic()
        for step in sorted([*starts, *self.scenario.steps], key=lambda step: step.at):
            self._wait(begun + step.at)
            self.tell(f"{step.at:.0f} s: {step.do} {' '.join((*step.loads, *step.nodes))}")
            self.done.append((time(), step))
            self._do_loads(step)
            # What comes after a node's orderly stop or start comes as much later as that took on this machine.
            before = monotonic()
            self._do_nodes(step)
            begun += monotonic() - before
        self._wait(begun + self.scenario.seconds)

    def _wait(self, until: float) -> None:
        while (left := until - monotonic()) > 0:
            sleep(min(left, 1.0))

    def _do_loads(self, step: Step) -> None:
        processes = self.stage.processes
        if step.do == "alter":
            address = self.stage.address(step.options.get("broker", "kafka"))
            kafka_admin.alter_topic(address, step.options["topic"], step.options["settings"])
        for name in step.loads:
            if step.do == "start":
                self._start(name, step.options)
            elif step.do == "set":
                processes.tell(name, json.dumps(dict(step.options)))
            else:
                processes.send(name, _SIGNALS[step.do])

    def _do_nodes(self, step: Step) -> None:
        """Signals are sent and that is all; an orderly stop and a start are waited for, as who rolls a cluster does."""
        for name in step.nodes:
            if step.do == "start":
                self.stage.again(name)
            elif step.do == "stop":
                self.stage.processes.stop(name)
            else:
                self.stage.processes.send(name, _SIGNALS[step.do])
        if step.do == "start" and step.nodes and self._topics():
            kafka_admin.await_replicas(self.stage.address(self._topics()[0].broker), self._topics())

    def _start(self, name: str, changed: Mapping[str, Any]) -> None:
        """Start a load, or start it again, maybe with other options; one that is still stopping is waited for."""
        load = next(load for load in self.scenario.loads if load.name == name)
        more = {"metrics_port": self.exporting[name]} if name in self.exporting else {}
        load = replace(load, options={**load.options, **changed, **more})
        running = self.stage.processes.running.get(name)
        if running is not None:
            running.wait(60)
        address = self.stage.address(load.broker)
        processes = self.stage.processes
        written_settings(load, self.live / "configs")
        processes.start(command_of(load, address, self.folder, processes.home))

    def _gather(self) -> None:
        """Copy what there is at this moment, while everything still runs, as an engineer would."""
        capture = self.folder / "capture"
        shutil.copytree(self.live, capture)
        for broker in self.stage.brokers:
            for kind, files in (("logs", broker.logs), ("configs", broker.configs)):
                for name, path in files.items():
                    if path.exists() and path.stat().st_size:
                        shutil.copyfile(path, capture / kind / name)
        for name in _FOLDERS:
            if not any((capture / name).iterdir()):
                (capture / name).rmdir()

    def _positions(self) -> tuple[Committed, Ends]:
        """Committed and end offsets right behind the last sample, before the ledgers are copied."""
        committed, ends = {}, {}
        for topic in self._topics():
            address = self.stage.address(topic.broker)
            for group in groups_of(self.scenario):
                committed[group, topic.name] = kafka_admin.committed(address, group, topic.name)
            ends[topic.name] = kafka_admin.ends(address, topic.name)
        return committed, ends

    def _topics(self) -> list[Topic]:
        """Those of Kafka, whose log and positions a client without a group can read."""
        kafka = {broker.label for broker in self.scenario.brokers if broker.software == "kafka"}
        return [topic for topic in self.scenario.topics if topic.broker in kafka]

    def _stored(self, topic: Topic) -> Iterator[kafka_admin.Stored]:
        return kafka_admin.stored(self.stage.address(topic.broker), topic.name)


def new_folder(runs: Path, scenario: Scenario) -> Path:
    """A folder for a run of this scenario."""
    folder = runs / f"{scenario.name}-{stamp(now())}"
    folder.mkdir(parents=True)
    return folder


def iso(at: float) -> str:
    """A moment as truth files have it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
