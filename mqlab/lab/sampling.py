"""What an engineer would fetch again and again: groups, members and offsets with the brokers' own tools, and metrics.

The tools run in one JVM that stays (``java/Tools.java``): a JVM of its own takes each of them three to five seconds.
"""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from mqlab.lab.brokers.base import Broker
from mqlab.lab.brokers.rocketmq import OPENED
from mqlab.lab.distributions import compiled, fetched, java
from mqlab.lab.processes import Command, Processes
from mqlab.lab.resources import LOOPBACK
from mqlab.lab.scenario import Topic

_GROUPS = {"2.8": "kafka.admin.ConsumerGroupCommand"}
_OFFSETS = {"2.8": "kafka.tools.GetOffsetShell"}
_TOPICS = {"2.8": "kafka.admin.TopicCommand"}
_CONFIGS = "kafka.admin.ConfigCommand"


def stamped() -> str:
    """The moment as file names of samples have it."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")


@dataclass
class Tools:
    """One JVM in which the command line tools of one broker run."""

    broker: Broker
    processes: Processes
    folder: Path
    """Where the JVM's own errors go."""
    topics: Sequence[Topic]
    groups: Sequence[str]
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        """Of its process."""
        return f"{self.broker.wanted.label}-tools"

    def start(self, main: str, options: Sequence[str] = ()) -> None:
        """Start the JVM with a class of the lab."""
        wanted = self.broker.wanted
        distribution = fetched(f"{wanted.software}-{wanted.version}", self.processes.home.dist)
        path = f"{compiled(main, distribution)}:{distribution.class_path}"
        fast = ["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        words = [java(), *fast, *options, "-cp", path, main]
        output = self.folder / f"{self.name}.out"
        env = self.broker.nodes[-1].command.env
        self.processes.start(Command(self.name, words, self.folder, output, env, speaks=True, answers=True))

    def run(self, tool: str, output: Path, *arguments: str) -> None:
        """Run one tool, its output to a file."""
        with self.lock:
            stdout = self.processes.running[self.name].stdout
            self.processes.tell(self.name, "\t".join([tool, str(output), *arguments]))
            if stdout is not None:
                stdout.readline()

    def begin(self, live: Path) -> None:
        """Start, and fetch once what does not change."""
        raise NotImplementedError

    def sample(self, live: Path) -> None:
        """One snapshot of groups and offsets."""
        raise NotImplementedError


class KafkaTools(Tools):
    """``kafka-consumer-groups.sh`` and its like."""

    def begin(self, live: Path) -> None:
        """Start, and describe topics and their settings."""
        self.start("Tools")
        topics = _TOPICS.get(self.broker.wanted.version, "org.apache.kafka.tools.TopicCommand")
        asked = ("--bootstrap-server", self.broker.address, "--describe")
        self.run(topics, live / "configs" / "topics-describe.txt", *asked)
        self.run(_CONFIGS, live / "configs" / "topic-configs-describe.txt", *asked, "--all", "--entity-type", "topics")

    def sample(self, live: Path) -> None:
        """All groups with their members, and the ends of the topics."""
        version, asked = self.broker.wanted.version, ("--bootstrap-server", self.broker.address)
        groups = _GROUPS.get(version, "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand")
        offsets, every = live / "offsets", (*asked, "--describe", "--all-groups")
        self.run(groups, offsets / f"consumer-groups-describe.{stamped()}.txt", *every)
        self.run(groups, offsets / f"consumer-groups-members.{stamped()}.txt", *every, "--members", "--verbose")
        shell = _OFFSETS.get(version, "org.apache.kafka.tools.GetOffsetShell")
        bootstrap = ("--broker-list" if version == "2.8" else "--bootstrap-server", self.broker.address)
        for topic in self.topics:
            output = offsets / f"get-offsets.{topic.name}.{stamped()}.txt"
            self.run(shell, output, *bootstrap, "--topic", topic.name)


class RocketTools(Tools):
    """``mqadmin``."""

    def begin(self, live: Path) -> None:
        """Start, and make the topics: their answers are part of what an engineer has."""
        self.start("RocketTools", OPENED)
        for topic in self.topics:
            queues = ("-r", str(topic.partitions), "-w", str(topic.partitions))
            output = live / "configs" / f"updateTopic-{topic.name}.txt"
            self._ask(output, "updateTopic", "-c", "lab", "-t", topic.name, *queues)

    def sample(self, live: Path) -> None:
        """Progress and connections of each group."""
        for group in self.groups:
            progress = live / "offsets" / f"consumerProgress-{group}.{stamped()}.txt"
            self._ask(progress, "consumerProgress", "-g", group)
            connected = live / "clients" / f"consumerConnection-{group}.{stamped()}.txt"
            self._ask(connected, "consumerConnection", "-g", group)

    def _ask(self, output: Path, command: str, *arguments: str) -> None:
        self.run("mqadmin", output, command, "-n", self.broker.address, *arguments)


TOOLS = {"kafka": KafkaTools, "rocketmq": RocketTools}
"""Software whose groups are asked for."""


def scrape(name: str, port: int, metrics: Path) -> None:
    """Add what an exporter says to its file, as a loop of ``date`` and ``curl`` would; no answer leaves a gap."""
    try:
        with urllib.request.urlopen(f"http://{LOOPBACK}:{port}/metrics", timeout=5) as answer:
            said = answer.read()
    except (urllib.error.URLError, OSError):
        return
    with (metrics / f"{name}-metrics.txt").open("ab") as file:
        file.write(f"# {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\n".encode() + said)


class Sampler:
    """A thread that samples every so many seconds until it is stopped."""

    def __init__(self, tools: Sequence[Tools], exporters: Mapping[str, int], capture: Path, every: float) -> None:
        self._tools, self._exporters, self._capture, self._every = tools, exporters, capture, every
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Take the last sample and end."""
        self._over.set()
        self._thread.join(60)

    def _run(self) -> None:
        last = False
        while not last:
            last, began = self._over.is_set(), monotonic()
            for tools in self._tools:
                tools.sample(self._capture)
            for name, port in self._exporters.items():
                scrape(name, port, self._capture / "metrics")
            if not last:
                self._over.wait(max(0.5, self._every - (monotonic() - began)))
