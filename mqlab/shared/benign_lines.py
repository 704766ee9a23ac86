"""What healthy starts and stops print: which WARN and ERROR shapes of a log are no symptoms.

``WARN RocketmqClient - get Topic [TBW102] RouteInfoFromNameServer is not exist value``
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from mqlab.facts import Episode, Facts
from mqlab.rows import Shape
from mqlab.shared.actors import folder, log_end
from mqlab.sources import Role

STARTING = 90.0
"""Seconds after a log's first line, or a process's start, that belong to the start. Judgement, no default behind it: a
new member waits up to session.timeout.ms (45 s) for those that died, and its application takes a while before."""
RESTART = 60.0
"""Seconds around a start in which others miss the process: two requests that time out (request.timeout.ms 30000)."""
STARTS = (
    "settings-printed", "broker-started", "rocketmq-broker-started", "rocketmq-broker-stopping", "broker-starting",
    "broker-stopping", "namesrv-started",
)  # fmt: skip
"""Events around which every log warns of what is not there yet, or not any more."""
OWN_STARTS = ("client-created", "consumer-stopped")
"""Such events of which only the process itself and the brokers warn."""
WORKS = ("connection-made", "join-completed", "client-connected", "truncation-detected")
"""Events of a client's log that say that it works again, as what a new leader answers does."""
ORDERLY = (0.0, 130.0, 143.0)
"""Exit statuses of a process that ended by itself or was asked to (SIGINT, SIGTERM)."""
WANTED = (*ORDERLY, 137.0)
"""The same, and that of one that closed too slowly for who stopped it (SIGKILL)."""
REPEATED = 3
"""Lines from which a WARN shape is no single remark. Judgement, no default behind it: a program that is started and
restarted makes each remark twice."""

OFTEN = 60
"""Lines of one shape within a minute, one a second (reconnect.backoff.max.ms 1000), that a start may bring about."""

_REMARKS = re.compile(
    r"(?:isn't|aren't|are not|was not) (?:a )?known config|The configuration '[^']*' was supplied"
    r"|deprecated|SLF4J|log4j:WARN|InstanceAlreadyExists|AppInfoParser"
    r"|no quorum defined in config|maxCnxns is not configured|contextPath ends with|mpty contextPath"
    r"|not in the whitelist|registered in SERVER runtime|contains empty path annotation"
    r"|TransactionalMessage(?:Check)?Service|getAllTopicListFromNameserver|subscription is not latest"
    r"|WARN\s+-\s*$|deployment is not secure|RocketMQLog:WARN|Erlang cookie is in use|Configure node\.cookie"
    r"|should not be run as root|Ignoring Raspberry Pi specific node|WARN\b.{0,10} -{20,}\s*$"
    r"|Failed to parse configuration to enable ACL|Failed to enable ACL\. Either AccessKey"
    r"|^org\.apache\.kafka\.common\.errors\.NotLeaderOrFollowerException: For requests"
    r"|KafkaJS \S+ switched default partitioner|Removed # expired offsets"
)
"""Lines that programs print however long they run and whatever happens: no trouble, how many there may be."""
_ORDINARY = re.compile(
    r"No meta\.properties file|Performing controller activation|Bootstrap broker|may not be available"
    r"|marked as failed|not the correct coordinator|coordinator is loading|Coordinator load in progress"
    r"|Writing records to __consumer_offsets|Execution of FlushBatch failed|already been closed"
    r"|Renouncing the leadership|Based on follower's"
    r"|Error registering AppInfo mbean|Ignoring invalid comple"
    r"|LEADER_NOT_AVAILABLE|UNKNOWN_TOPIC_OR_PARTITION|Attempting to send response via channel"
    r"|Error while fetching metadata|No broker metadata found|selectMappedBuffer request pos invalid"
    r"|PIPELINE: (?:exceptionCaught|IDLE exception)|BatchUnregistrationService"
    r"|ScheduledThread has shutdown|processQueue is dropped without process"
    r"|get Topic \[TBW|execute the pull request exception"
    r"|Ignoring Raspberry Pi specific node|\] -{10,}$"
    r"|memorystore wiped|error triggered |internalConnLost unexpected status: disconnection already in progress"
)
"""What a healthy start, restart or hand-over prints at WARN or ERROR, ``OFTEN`` at most.

RocketMQ's: looks at transactions of which there are none, topics and groups that a name server or broker does not
know yet, the template of topics (TBW102) where brokers create none by themselves, a pull that failed: the exception
below it is what tells.
MQTT's: Node-RED frames its remarks about nodes for other hosts; paho Go begins with an empty store, and tells of the
end of every connection, its own good-bye included.
"""
_WAITS = re.compile(
    r"connect|refus|reset|clos|unavailable|not (?:available|ready|exist|found)|unknown|unreachable|resolv|lookup|leader"
    r"|coordinator|metadata|route|time[- ]?d?[- ]?out|expired|retr|rebalanc|heart ?beat|EOF|broken pipe"
    r"|interrupt|bootstrap|pull|fetch|send",
    re.IGNORECASE,
)
"""Words of what waits for a broker that is not there yet, or not any more."""
_ANSWER = re.compile(r"response to /|write response\[|RemotingCommand \[code=")
"""RocketMQ's answers for clients that have gone."""
_REFUSAL = re.compile(r"busy|disk (?:is )?full|flow control|SYSTEM_ERROR|not available", re.IGNORECASE)
"""What an answer says when the broker cannot do its work."""


_OF_NO_START = frozenset({"error:kafka-producer-fenced", "error:kafka-transaction-timed-out"})
"""Events that no start brings about: who waits for a broker is not fenced, and aborts no transaction."""


@dataclass(frozen=True, slots=True)
class Starts:
    """When logs begin, and when processes start and stop."""

    begins: Mapping[str, float]
    """First line of each log."""
    every: tuple[float, ...]
    """Of which every log tells."""
    own: Mapping[str, tuple[float, ...]]
    """Of clients, by the folder of their log."""
    brokers: frozenset[str]
    """Logs of brokers and name servers."""
    printed_by_brokers: frozenset[str]
    """Logs of brokers of all kinds: what clients say around their start is only what waits for it."""
    servers: tuple[float, ...]
    """Those of servers: a server that waits for another one waits for no client that starts."""

    def account_for(self, facts: Facts, shape: Shape) -> bool:
        """Every line of *shape* may belong to a start: all to one, or the first and the last to one each.

        A log that begins may be one that was rotated: its first lines excuse warnings, no errors.
        """
        if not is_slow(facts, shape):
            return False
        return self.around(shape) or (shape.level == "WARN" and self.at_begin(shape))

    def around(
        self, shape: Shape | Episode, worked: Collection[float] = (), known: Collection[float] | None = None
    ) -> bool:
        """Its first and its last line lie around a start or stop that the material tells of: of those *known*, or any.

        Who *worked* at a moment between had got over that start: it explains nothing of what came later.
        """
        if shape.first_at is None or shape.last_at is None or _is_of_no_start(shape):
            return False
        if isinstance(shape, Shape) and shape.source not in self.printed_by_brokers and not _WAITS.search(shape.shape):
            return False
        known = [*self.every, *self._clients(shape.source)] if known is None else known
        return all(any(_near(at, start, worked) for start in known) for at in (shape.first_at, shape.last_at))

    def at_begin(self, shape: Shape | Episode, worked: Collection[float] = ()) -> bool:
        """Its first and its last line lie at the beginning of its log, before who wrote them had *worked*."""
        if shape.first_at is None or shape.last_at is None or _is_of_no_start(shape):
            return False
        begin = self.begins.get(shape.source, shape.first_at)
        return all(_near(at, begin, worked) for at in (shape.first_at, shape.last_at))

    def explain(
        self, facts: Facts, episode: Episode, again: float | None, worked: Collection[float], *, of_servers: bool
    ) -> bool:
        """A start accounts for it: one that the material tells of (*of_servers* alone), or that of its own log."""
        return self.around(episode, worked, self.servers if of_servers else None) or self.overcome(
            facts, episode, again, worked
        )

    def overcome(self, facts: Facts, episode: Episode, again: float | None, worked: Collection[float] = ()) -> bool:
        """It lies at the beginning of a log whose client works right after: what is started waits for what is not.

        So does what is said no more within the seconds after which it would be said *again*.
        """
        if not self.at_begin(episode, worked) or episode.last_at is None:
            return False
        well = [e.first_at for e in facts.of_kind(*WORKS) if e.source == episode.source and e.first_at is not None]
        silent = (log_end(facts, (episode.source,)) or episode.last_at) - episode.last_at
        return any(0 <= at - episode.last_at <= STARTING for at in well) or (again is not None and silent > again)

    def _clients(self, source: str) -> list[float]:
        if source in self.brokers:
            return [at for moments in self.own.values() for at in moments]
        return list(self.own.get(folder(source), ()))


def starts(facts: Facts) -> Starts:
    """All starts that the material tells of."""
    begins: dict[str, float] = {}
    known = [(c.source, c.first_at) for c in facts.coverage] + [(s.source, s.first_at) for s in facts.shapes]
    for source, at in known:
        if at is not None:
            begins[source] = min(begins.get(source, at), at)
    own: dict[str, list[float]] = defaultdict(list)
    for episode in facts.of_kind(*OWN_STARTS):
        if episode.first_at is not None:
            own[folder(episode.source)].append(episode.first_at)
    clients = {s.source for s in facts.settings if s.scope != "broker" and s.origin == "printed"}
    every = [e for e in facts.of_kind(*STARTS) if e.first_at is not None]
    return Starts(
        begins,
        tuple(e.first_at or 0.0 for e in every),
        {place: tuple(moments) for place, moments in own.items()},
        facts.logs_of("rocketmq", Role.BROKER_LOG),
        frozenset(c.source for c in facts.coverage if c.role is Role.BROKER_LOG),
        tuple(e.first_at or 0.0 for e in every if e.source not in clients),
    )


def is_slow(facts: Facts, shape: Shape) -> bool:
    """True where its lines come no faster than from clients of its log that try again once a second each."""
    clients = len({client for _, client in facts.named_clients(shape.source)})
    lasts = shape.last_at - shape.first_at if shape.first_at is not None and shape.last_at is not None else 0.0
    return shape.lines <= (OFTEN + lasts) * max(1, clients)


def remark(facts: Facts, shape: Shape) -> bool:
    """True for a shape below ERROR that programs print in health, not too often."""
    return shape.level not in ("ERROR", "FATAL") and (
        _REMARKS.search(shape.shape) is not None or _is_ordinary(facts, shape)
    )


def notable(facts: Facts, shape: Shape) -> bool:
    """A shape of WARN or worse that health does not print, or not so often; a WARN that is no single remark."""
    if shape.level == "WARN":
        return shape.lines >= REPEATED and not remark(facts, shape)
    return shape.level in ("ERROR", "FATAL") and not _is_ordinary(facts, shape)


def _is_ordinary(facts: Facts, shape: Shape) -> bool:
    if not is_slow(facts, shape):
        return False
    if _ORDINARY.search(shape.shape):
        return True
    return bool(_ANSWER.search(shape.shape)) and not _REFUSAL.search(shape.shape)


def _is_of_no_start(line: Shape | Episode) -> bool:
    return isinstance(line, Episode) and line.kind in _OF_NO_START


def _near(at: float, start: float, worked: Collection[float] = ()) -> bool:
    return start - RESTART <= at <= start + STARTING and not any(start <= well < at for well in worked)
