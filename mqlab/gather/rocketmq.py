"""What a RocketMQ cluster tells through its own ``mqadmin``, run as a person would, and nothing that changes anything.

Every command starts a JVM, so brokerConsumeStats, which tells of all groups and queues of a broker at once, is asked at
every sampling, who is in a group only of those that are most behind, and what tells of one group or topic else at the
first and the last. Commands run in a folder of the
bundle's own, since consumerStatus leaves a file for each client, and under UTC, since they print moments without a
zone. Tried with 4.9 and 5.1.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from mqlab.gather.bundle import Bundle
from mqlab.gather.manifest import now, stamp
from mqlab.gather.programs import FAILED, ran
from mqlab.gather.schedule import RefusedError, Tick, Wanted

READS = (
    "brokerConsumeStats", "brokerStatus", "clusterList", "consumerConnection", "consumerProgress", "consumerStatus",
    "getBrokerConfig", "statsAll", "topicList", "topicRoute", "topicStatus",
)  # fmt: skip
"""Every command that is run here; none of them changes anything."""
_PATIENCE = 120.0
"""Seconds after which a command is ended."""
_RETRY = "%RETRY%"
_OWN = re.compile(r"%|RMQ_SYS_|rmq_sys_|CID_|SCHEDULE_TOPIC_XXXX$|TBW102$|SELF_TEST|OFFSET_MOVED_EVENT$|BenchmarkTest$"
                  r"|TRANS_CHECK_MAX|DefaultHeartBeat|Default?Cluster")  # fmt: skip
"""Topics that brokers make for themselves."""
_MASTER = re.compile(r"^(?P<cluster>\S+)\s+(?P<broker>\S+)\s+0\s+(?P<address>[\w.\-\[\]:]+:\d+)\s", re.MULTILINE)
"""A master in clusterList: cluster, broker, 0, address."""
_PROGRESS = re.compile(r"^(?P<group>[%|\w-]+)\s+\d+\s.*\s(?P<diff>-?\d+)[ \t]*$", re.ASCII | re.MULTILINE)
"""A group in consumerProgress: its name, how many clients, …, how many messages wait."""
_WATCHED = 3
"""Groups of which clients are asked for at every sampling."""
_NAME = re.compile(r"^[%|\w-]{1,255}$", re.ASCII | re.MULTILINE)
"""A line of topicList; the JVM and its logging print others."""
_STATUS = re.compile(r"^\d\d:\d\d:\d\d,\d{3} \|-.*\n?", re.MULTILINE)
"""What logback says of its own configuration."""
_ERROR = re.compile(
    r"^\S*(?:SubCommandException|MQClientException|MQBrokerException|RemotingException)\b.*", re.MULTILINE
)
_REFUSED = re.compile(
    r"No acl config for|No accessKey is configured|[Cc]heck signature failed|signature-failed|AuthenticationException"
)
"""How 4.x and 5.x refuse access keys; what they refuse to somebody whom they know has other words."""


@dataclass(slots=True)
class Sampling:
    """Asks a cluster at every tick."""

    bundle: Bundle
    mqadmin: str
    """The program, or its path."""
    servers: str
    """Addresses of name servers."""
    wanted: Wanted

    def __call__(self, tick: Tick) -> None:
        """Ask everything once; where nothing answers, only that is noted."""
        listed = self._ask("clusterList")
        found = list(_MASTER.finditer(listed))
        masters = sorted({one["address"] for one in found})
        for address in masters:
            self._ask("brokerConsumeStats", ("-b", address))
        progress = self._ask("consumerProgress", called="all")
        if not (tick.first or tick.last):
            for group in self._behind(progress):
                self._ask("consumerConnection", ("-g", group))
        else:
            # Each broker also makes topics that are called as it and its cluster are.
            named = {name for one in found for name in (one["cluster"], one["broker"], f"{one['cluster']}_REPLY_TOPIC")}
            self._rarely(masters, named)

    def _behind(self, progress: str) -> list[str]:
        """The groups for which most messages wait: a client id that several share is told by who is there for long."""
        waiting = {one["group"]: int(one["diff"]) for one in _PROGRESS.finditer(progress)}
        named = [group for group, diff in waiting.items() if diff > 0 and self.wanted.group(group)]
        return sorted(named, key=lambda group: -waiting[group])[:_WATCHED]

    def _rarely(self, masters: Sequence[str], own: Collection[str]) -> None:
        for address in masters:
            self._ask("brokerStatus", ("-b", address))
            self._ask("getBrokerConfig", ("-b", address))
        self._ask("statsAll")
        names = _NAME.findall(self._ask("topicList"))
        for topic in (name for name in names if name not in own and not _OWN.match(name) and self.wanted.topic(name)):
            self._ask("topicRoute", ("-t", topic))
            self._ask("topicStatus", ("-t", topic))
        # Tables cut the names of groups; topics for messages to be tried again hold them whole.
        groups = (name.removeprefix(_RETRY) for name in names if name.startswith(_RETRY))
        for group in (name for name in groups if not _OWN.match(name) and self.wanted.group(name)):
            self._ask("consumerConnection", ("-g", group))
            self._ask("consumerProgress", ("-g", group, "-s", "true"))
            self._ask("consumerStatus", ("-g", group))

    def _ask(self, command: str, options: Sequence[str] = (), called: str = "") -> str:
        """What *command* prints, also put into the bundle; empty where it is not answered."""
        about = called or (options[1] if options else "")
        begun = stamp(now())  # a command takes seconds, so that each has a moment of its own
        name = f"rocketmq/{command}{'-' if about else ''}{about.replace(':', '_')}.{begun}.txt"
        with self.bundle.manifest.asking(command, *FAILED), TemporaryDirectory(dir=self.bundle.partial) as folder:
            printed = _run((self.mqadmin, command, "-n", self.servers, *options), Path(folder))
            if error := _ERROR.search(printed):
                self.bundle.manifest.failed(command, f"{about}: {error[0]}"[:300])
            if printed.strip() and command != "topicList":
                self.bundle.write(name, printed)
            for one in sorted(_files(Path(folder))):
                where = f"rocketmq/consumer-status/{about}.{begun}/{one.name}.txt"
                self.bundle.write(where, one.read_text("utf-8", "backslashreplace"))
            return printed
        return ""


def _run(command: Sequence[str], folder: Path) -> str:
    """What ``mqadmin`` prints, run in *folder*.

    Raises:
        OSError, SubprocessError, ValueError: it is not there, is none of ``READS``, fails, or does not end.
        RefusedError: a broker refused the access keys.
    """
    if len(command) < 2 or command[1] not in READS:
        raise ValueError(f"{command} is not run here")
    done = ran(command, _PATIENCE, folder=folder, environment=os.environ | {"TZ": "UTC"})
    text = (done.stdout + done.stderr).decode("utf-8", "replace")
    if refused := next((line for line in text.split("\n") if _REFUSED.search(line)), ""):
        because = "a broker refused the access keys of mqadmin (conf/tools.yml); the cluster is not asked again"
        raise RefusedError(f"{because}: {refused.strip()[:300]}")
    if done.returncode and not done.stdout:
        said = done.stderr.decode("utf-8", "replace").strip().split("\n")
        raise ValueError(said[-1] or f"exit code {done.returncode}")
    return _STATUS.sub("", done.stdout.decode("utf-8", "backslashreplace"))


def _files(folder: Path) -> Iterator[Path]:
    """What a command left behind, ``<moment>/<client id>``."""
    yield from (one for one in folder.glob("*/*") if one.is_file())
