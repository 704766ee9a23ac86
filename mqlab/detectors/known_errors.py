"""What brokers, clients and hosts say outright: one rule for every class of the table of known errors.

Fires: a known error that comes again and again, or one that ends what it befalls (``fatal``). The finding counts its
lines, says who wrote them, since when, what they are about, and what the table knows of the error that leads.
Quiet: what is said around a start or stop that the material tells of (but not after each of several), or at the
beginning of a log that goes on without it; a consequence of events that the table names (``unless``). A notice only:
one or two refused tries, a disturbance that is over within a minute, a start that failed and then succeeded, what the
same log says later that it went well, words that have other causes too (``vague``). What is told at INFO ends nothing.
An alarm ends when its broker clears it; one that was raised again since goes on. Who gets no connection is over it once
connected, and a start accounts for nothing that a client says after it had a connection.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from mqlab import words
from mqlab.catalogue import INCIDENTS
from mqlab.facts import Episode, Facts, span
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.known_errors import WORKS_AGAIN, KnownError, is_reason, known_errors, of_class
from mqlab.mqtt.reconnects import links
from mqlab.rocketmq.disks import still_full
from mqlab.rocketmq.name_servers import is_name_server
from mqlab.rows import GRID
from mqlab.shared import benign_lines
from mqlab.shared.actors import base_name, folder, log_end
from mqlab.shared.queues import set_back
from mqlab.shared.working import NO_BRIDGE, back, connections, owner
from mqlab.units import clock, moment

say = words.room("known-errors")

REPEATED = 3
"""Lines from which an error is more than refused tries. Judgement, no default behind it: one, and the next of a client
that tries again."""
PASSING = 120.0
"""Seconds that clients bridge by themselves (delivery.timeout.ms); a disturbance that is over sooner passes."""
AFTER = 60.0
"""Seconds without it after which it is over: two requests that time out (request.timeout.ms 30000)."""
BEFORE = 3600.0
"""Seconds before an error within which another event makes it a consequence. Judgement, no default behind it."""
_SHOWN = 3
_ONE_START = 5.0
"""Seconds between two clients of a process that starts."""
_OWN_STARTS = ("client-created", "settings-printed", "app-started")
"""Events of a client's log that tell of its process's start."""
_RUNNING = ("broker-started", "rocketmq-broker-started")
_TRIES = 10
"""Times the usual time between two lines, and two steps of the grid at least, after which a client has ceased to try.
Judgement, no default behind it: reconnect.backoff.max.ms is 1 s."""
_READ = 2 / 3
"""Part of its session timeout after which a ZooKeeper client that hears nothing says so (readTimeout, ClientCnxn)."""
_LATE = 1.1
"""How much later it says so that stood still itself; one that runs is woken at that moment, to some ms."""
_ALIKE = 1.02
"""How far such times of one client that runs are apart: some ms of 4 s and more."""
_NO_TIMEOUT = 3_600_000.0
"""Milliseconds that no session may last in silence. Judgement: a ZooKeeper server allows 20 ticks, 40 s by default."""
_RECOVERED = "recovered"
"""Lines of brokers that say that what they waited for came."""
_RAISED, _CLEARED = "alarm-raised", "alarm-cleared"
_ANSWERED = "broker-answers"
_LOST = "error:rocketmq-broker-lost"
"""A name server tells it after two minutes of silence: clients do not bridge that by themselves."""
_REFUSED_FOR_SPACE = "error:rocketmq-disk-refuses"
"""Of which the broker's own figures tell whether it goes on."""
_ANSWERS = {_RAISED: _CLEARED, _LOST: _ANSWERED, "error:kafka-controller-cannot-connect": _ANSWERED}
"""What says of an event, by its kind, that it is over; else that it went well."""
_LEVEL = re.compile(r"\b(?:(TRACE|DEBUG|INFO|NOTICE)|WARN|ERROR|FATAL|SEVERE|CRITICAL)", re.IGNORECASE)
_HEAD = 80
"""Characters within which a line tells its level: behind a moment and the name of a thread or host."""
NO_WAITING = frozenset(
    {
        "authentication-failed",
        "authorization-denied",
        "certificate-untrusted",
        "disk-full",
        "log-corrupt",
        "resource-limit",
        "throttled",
    }
)
"""Classes that are none of what a process meets while others are not up yet."""
_WORST = frozenset({"startup-failure", "disk-full", "quorum-lost", "log-corrupt"})
"""Classes whose fatal errors stop a broker or lose data."""

_NO_CONNECTION = ("authentication-failed", "broker-unreachable", "certificate-untrusted", "network-partition")
"""Classes of which a client has got over that has its connection again."""
_CLIENTS = ("consumer-offline", "group-churn", "reconnect-flaky-link")
"""What follows where clients cannot work."""
_PAUSES = ("session-timeout", "poll-interval-exceeded", "retry-amplification", "reconnect-storm")
"""What follows where something stood still."""
EXPLAINS: Mapping[str, tuple[str, ...]] = {
    "authentication-failed": (*_CLIENTS, "rate-limit-flapping"),
    "authorization-denied": _CLIENTS,
    "broker-unreachable": (
        *_CLIENTS,
        "retry-amplification",
        "reconnect-storm",
        "session-queue-drop",
        "session-queue-growth",
    ),
    "network-partition": (*_CLIENTS, *_PAUSES, "under-min-isr", "quorum-lost"),
    "quorum-lost": ("under-min-isr", "retry-amplification", "coordinator-unavailable"),
    "broker-overloaded": (*_PAUSES, "reconnect-flaky-link"),
    "throttled": ("reconnect-flaky-link", "reconnect-storm", "retry-amplification", "slow-consumer"),
    "disk-full": ("startup-failure", "under-min-isr", "retry-amplification", "broker-overloaded"),
    "log-corrupt": ("poison-pill-stall", "startup-failure"),
    "resource-limit": (*_CLIENTS, "session-timeout", "reconnect-storm"),
    "host-starved": (*_PAUSES, "under-min-isr", "quorum-lost", "network-partition", "clock-jump"),
    "certificate-untrusted": (*_CLIENTS, "authentication-failed", "broker-unreachable"),
    "protocol-mismatch": (*_CLIENTS, "broker-unreachable"),
    "dependency-down": (*_CLIENTS, "poison-pill-stall", "poll-interval-exceeded", "slow-consumer"),
    "startup-failure": (*_CLIENTS, "broker-unreachable"),
    "coordinator-unavailable": (*_CLIENTS, "slow-consumer"),
    "route-missing": _CLIENTS,
    "manual-offset-change": ("offset-reset-loss", "catch-up-read", "reprocess-duplicates", "backlog-drain"),
    "clock-jump": ("session-timeout", "poll-interval-exceeded"),
}
"""The classes that known errors are signs of, and what each brings about."""


@dataclass(slots=True)
class Rule:
    """The rule for one class."""

    INCIDENT: str
    SYSTEMS: tuple[str, ...] = ("kafka", "rocketmq", "mqtt")

    def detect(self, facts: Facts) -> Result:
        """At most one finding: what was said most, and all others that said it."""
        said = tuple(_said(facts, self.INCIDENT))
        if said:
            return Result((_finding(facts, self.INCIDENT, said),))
        if open_ := _open(facts, self.INCIDENT):
            return open_
        told = facts.of_kind(*of_class(self.INCIDENT))
        if told and self.INCIDENT == _UNREACHABLE and all(_is_of_its_link(facts, e) for e in told):
            return Result(rejected=say("its-link", clients=_names(owner(facts, e) for e in told)))
        if told and all(_is_way_to_dependency(facts, self.INCIDENT, e) for e in told):
            return Result(rejected=say("way-to-dependency"))
        if any(c.role.is_log for c in facts.coverage):
            return CLEAR
        return Result(missing=(say("no-logs"),))


def _open(facts: Facts, incident: str) -> Result | None:
    """What points to a class without a line that names it."""
    if incident == "host-starved" and (late := _late(facts)):
        seen = say("late", brokers=_names(folder(e.source).rpartition("/")[2] for e in late))
        return Result(missing=(say("no-pauses"),), seen=seen, evidence=tuple(e.first for e in late))
    if incident == "host-starved" and (at_once := _at_once(facts)):
        seen = say("at-once", brokers=len(at_once))
        return Result(missing=(say("no-pauses"),), seen=seen, evidence=tuple(e.first for e in at_once))
    if incident == "host-starved" and (slept := _slept(facts)):
        first = tuple(e.first for e in slept[:_SHOWN])
        return Result(missing=(say("no-pauses"),), seen=say("slept", times=len(slept)), evidence=first)
    if incident == "manual-offset-change" and (back := set_back(facts)):
        seen = say("set-back", groups=_names(one.group for one, _ in back), partitions=len(back))
        rows = (Evidence(p.source, p.line, p.text, say("committed")) for pair in back[:_SHOWN] for p in pair)
        return Result(missing=(say("who-set"),), seen=seen, evidence=tuple(rows))
    return None


_SOME = {
    "throttled": ("kafka", "mqtt"),
    "coordinator-unavailable": ("kafka",),
    "manual-offset-change": ("kafka", "rocketmq"),
}
"""Classes of which only some systems have lines in the table."""
RULES: tuple[Rule, ...] = tuple(Rule(slug, _SOME[slug]) if slug in _SOME else Rule(slug) for slug in EXPLAINS)


def _brings(incident: str) -> tuple[str, ...]:
    """The classes that it brings about; of a plug-in's class, those that its catalogue names."""
    return EXPLAINS[incident] if incident in EXPLAINS else INCIDENTS[incident].may_bring


_Said = tuple[KnownError, Episode]
WAKING = 4.0
"""Seconds within which brokers that stood still together say so, and no second heartbeat of theirs can have run out:
each waits half of broker.session.timeout.ms, 4.5 s by default (BrokerServer)."""
_NO_MAJORITY = "Election "
"""How a round of voting that found no majority is told."""


def _late(facts: Facts) -> list[Episode]:
    """Lines of brokers that hear nothing from ZooKeeper, and say so only after they had stood still themselves.

    The session timeout is as set; where nothing tells it, lines of one broker that differ tell that it was not asleep
    for a timeout, but for as long as it stood still, and so does a silence that is too long for any timeout.
    """
    told = [e for e in facts.of_kind("error:zookeeper-client-timeout") if e.value_min and e.value_max]
    limits = {s.source: float(s.value) for s in facts.settings if s.key == "zookeeper.session.timeout.ms"}
    shortest = {e.source: min(o.value_min or 0.0 for o in told if o.source == e.source) for e in told}
    latest = {
        s: limits[s] * _READ * _LATE if s in limits else min(least * _ALIKE, _NO_TIMEOUT)
        for s, least in shortest.items()
    }
    late = {e.source for e in told if (e.value_max or 0.0) > latest[e.source]}
    return [e for e in told if e.source in late]


def _at_once(facts: Facts) -> list[Episode]:
    """Lines of KRaft's brokers whose heartbeats ran out unsent at one moment, in several logs, and never again.

    Brokers without an active controller say so again at each heartbeat (broker.heartbeat.interval.ms, 2 s) for as long
    as there is none, and elections time out; a machine that stood still finds all of them too late as it wakes.
    """
    told = [e for e in facts.of_kind("error:kraft-heartbeat-lost") if "before it could be sent" in e.first.text]
    since, until = span(at for e in told for at in (e.first_at, e.last_at))
    failed = [e for e in facts.of_kind("error:kraft-election") if _NO_MAJORITY in e.first.text]
    is_one = since is not None and until is not None and until - since <= WAKING
    return told if is_one and len({e.source for e in told}) > 1 and len(failed) < REPEATED else []


_SILENT = 120.0
"""Seconds of silence of all logs from which nobody ran: brokers of RocketMQ register every 30 s, and are missed after
two minutes."""


def _slept(facts: Facts) -> list[Episode]:
    """Lines about somebody who was missed, at which all logs go on that had been silent: their host stood still.

    Where a link failed, the log of one side goes on at least.
    """
    logs = [[m.at for m in v.minutes if m.at is not None] for v in facts.volumes if v.minutes]
    told = facts.of_kind(*of_class("network-partition"))
    return [e for e in told if len(logs) > 1 and all(_wakes(minutes, e.first_at) for minutes in logs)]


def _wakes(minutes: Sequence[float], at: float | None) -> bool:
    """A log goes on within a minute of *at*, after a silence."""
    if at is None:
        return False
    begins = min((m for m in minutes if at - 60.0 < m <= at + 60.0), default=None)
    before = max((m for m in minutes if begins is not None and m < begins), default=None)
    return begins is not None and before is not None and begins - before > _SILENT


def _said(facts: Facts, incident: str) -> Iterator[_Said]:
    """Errors of a class that no start and no other event accounts for."""
    errors = of_class(incident)
    by_source: dict[str, list[_Said]] = {}
    paused = [e for e in (*_late(facts), *_at_once(facts)) if incident == "quorum-lost"]
    slept = _slept(facts) if incident == "network-partition" else []
    for episode in facts.of_kind(*errors):
        if episode in slept or any(episode is late or _is_before(late, episode) for late in paused):
            continue
        error = next((e for e in errors[episode.kind] if e.says(episode.reason, episode.first.text)), None)
        if error and error.by_broker and is_name_server(facts, episode.peer):
            continue
        of_link = incident == _UNREACHABLE and _is_of_its_link(facts, episode)
        if of_link or _is_way_to_dependency(facts, incident, episode):
            continue
        if (
            error
            and not _names_its_cause(facts, error, episode)
            and not any(_is_before(other, episode) for other in _causes(facts, error, episode))
        ):
            by_source.setdefault(episode.source, []).append((error, episode))
    known = benign_lines.starts(facts)
    for source, told in by_source.items():
        again = _at_each_start(facts, source, [e for _, e in told]) or _is_cut_off(facts, [e for _, e in told])
        left = [(error, e) for error, e in told if error.fatal or again or not _explained(facts, known, error, e)]
        last, end = span(e.last_at for _, e in left)[1], log_end(facts, (source,))
        goes_on = last is not None and end is not None and end - last > AFTER
        at_begin = goes_on and all(not error.fatal and known.at_begin(e, _worked(facts, e)) for error, e in left)
        if not (at_begin or (left and _is_one_that_passed(facts, left))):
            yield from left


_CAUSED, _BELOW = "Caused by:", 60
"""How a line begins that names the cause of an exception, and in how many lines below its head: a stack trace has
some fifty. Judgement, no default behind it."""


def _names_its_cause(facts: Facts, error: KnownError, episode: Episode) -> bool:
    """It is vague, and another known error stands below it as its cause, once for each: that one is told."""
    if not error.vague:
        return False
    kinds = {other.kind for other in known_errors().values()} - {error.kind}
    causes = [
        other
        for other in facts.of_kind(*sorted(kinds))
        if other.source == episode.source
        and other.first.text.lstrip().startswith(_CAUSED)
        and 0 < (other.first.line or 0) - (episode.first.line or 0) <= _BELOW
    ]
    return any(other.count >= episode.count for other in causes)


def _is_way_to_dependency(facts: Facts, incident: str, episode: Episode) -> bool:
    """It stands as the cause below an error of a dependency, once for each: nobody failed to reach a broker."""
    if incident not in (_UNREACHABLE, "network-partition") or not episode.first.text.lstrip().startswith(_CAUSED):
        return False
    return any(
        head.source == episode.source
        and 0 < (episode.first.line or 0) - (head.first.line or 0) <= _BELOW
        and head.count >= episode.count
        for head in facts.of_kind(*of_class("dependency-down"))
    )


_UNREACHABLE = "broker-unreachable"
_REFUSES = re.compile(r"\brefused", re.IGNORECASE)
"""A host that refuses is reached: no link fails there."""


def _is_of_its_link(facts: Facts, episode: Episode) -> bool:
    """The client that finds no way to the broker lost its link then, which is proven: no trouble besides."""
    if _REFUSES.search(episode.reason or "") or _REFUSES.search(episode.first.text):
        return False
    who = owner(facts, episode)
    away = [
        (loss.begins, loss.following.since)
        for link in (one for group in links(facts) for one in group)
        if link.sure and link.client_id == who
        for loss in link.losses
    ]
    return bool(away) and all(
        at is not None and any(a <= at <= b for a, b in away if a is not None and b is not None)
        for at in (episode.first_at, episode.last_at)
    )


def _explained(facts: Facts, known: benign_lines.Starts, error: KnownError, episode: Episode) -> bool:
    """A start accounts for it; that servers have no leader or majority no client brings about.

    Who starts waits for what is not there yet: no start brings about a full disk, a limit or a refused right.
    """
    if error.incident in NO_WAITING:
        return False
    of_servers = error.incident == "quorum-lost"
    return known.explain(facts, episode, error.again, _worked(facts, episode), of_servers=of_servers)


def _worked(facts: Facts, episode: Episode) -> list[float]:
    return [one.first_at for one in connections(facts, episode) if one.first_at is not None]


def _is_one_that_passed(facts: Facts, said: Sequence[_Said]) -> bool:
    """One or two lines of one log, which says right after them that it went well."""
    well, last = _went_well(facts, said), span(e.last_at for _, e in said)[1]
    soon = bool(well) and last is not None and (well[0].first_at or last) - last <= benign_lines.STARTING
    return soon and sum(e.count for _, e in said) < REPEATED


def _at_each_start(facts: Facts, source: str, told: Sequence[Episode]) -> bool:
    """The process of this log was started again and again, and said it after each start: it waits for nothing else.

    A broker that came up got what it waited for; its settings it prints twice in one start.
    """
    dated = [e for e in facts.of_kind(*_OWN_STARTS, *_RUNNING) if e.source == source and e.first_at is not None]
    up = max((e.first_at or 0.0 for e in dated if e.kind in _RUNNING), default=float("-inf"))
    moments = sorted(e.first_at or 0.0 for e in dated if (e.first_at or 0.0) > up)
    starts = [at for n, at in enumerate(moments) if not n or at - moments[n - 1] > _ONE_START]
    said = [at for at in starts if any(at <= (e.first_at or 0.0) <= at + benign_lines.STARTING for e in told)]
    return len(said) >= REPEATED


def _is_cut_off(facts: Facts, told: Sequence[Episode]) -> bool:
    """A bridge that had its connection fails again and again: no start in between accounts for that."""
    failed = [e for e in told if e.kind == NO_BRIDGE and e.first_at is not None]
    since = min((e.first_at or 0.0 for e in failed), default=0.0)
    return sum(e.count for e in failed) >= REPEATED and any(at < since for at in _worked(facts, failed[0]))


def _causes(facts: Facts, error: KnownError, episode: Episode) -> Iterator[Episode]:
    """Events of which the error would be a consequence, in the same place."""
    if error.unless:
        place = folder(episode.source)
        yield from (other for other in facts.of_kind(*error.unless) if folder(other.source) == place)


def _is_before(other: Episode, episode: Episode) -> bool:
    """*other* came first and, where both name one, of the same client."""
    if other.client_id and episode.client_id and other.client_id != episode.client_id:
        return False
    return other.first_at is None or episode.first_at is None or 0 <= episode.first_at - other.first_at <= BEFORE


def _finding(facts: Facts, incident: str, said: tuple[_Said, ...]) -> Finding:
    lines = Counter[KnownError]()
    for error, episode in said:
        lines[error] += episode.count
    reasons = {error for error, e in said if is_reason(e.first.text) and any(_is_below(e, head) for _, head in said)}
    lead = max(lines, key=lambda error: (error in reasons, error.fatal, lines[error]))
    reason, cause = _reason(facts, said, lead)
    total = sum(lines.values())
    since, until = span(at for _, e in said for at in (e.first_at, e.last_at))
    end = log_end(facts, {e.source for _, e in said})
    pace = (until - since) / max(1, total - 1) if since is not None and until is not None else AFTER
    well = _went_well(facts, said)
    cleared = span(e.last_at for e in well if e.kind == _CLEARED)[1]
    soon = until is None or end is None or end - until <= min(AFTER, max(2 * GRID, _TRIES * pace))
    connected = back(facts, (e for _, e in said)) if incident in _NO_CONNECTION else []
    again = cleared or span(e.first_at for e in (*well, *connected))[1]
    full = still_full(facts, until) if lead.kind == _REFUSED_FOR_SPACE and not well else None
    raised = full is not None or any(up_to is None for _, up_to in _alarms(facts, said))
    is_open = not (well or connected) and (soon or raised)
    goes_on = since != until or raised
    called = _called(facts, [e for _, e in said])
    who = _names(called[e] for _, e in said)
    own = [e for error, e in said if error is lead]
    about = _names(e.peer or e.topic for e in own)
    first, last = span(at for e in own for at in (e.first_at, e.last_at))
    texts = INCIDENTS[incident]
    severity = _severity(facts, incident, said, ongoing=is_open)
    statement = say(
        "statement",
        means=lead.means,
        lines=lines[lead],
        since=first,
        until=last,
        once=clock(first) == clock(last),
        who=_names(called[e] for e in own),
        about=about,
        cleared=cleared,
        well=bool(well),
        connected=span(e.first_at for e in connected)[1],
        meanwhile=_meanwhile(facts, own) if connected else None,
        excused=_excused(facts, said),
        cause=cause or (None if reason else lead.causes[0]),
        reason=reason.text.strip() if reason else None,
        check=lead.check,
        others=[error.name for error in lines if error is not lead],
    )
    return finding(
        incident,
        say("who", who=who),
        Certainty.LIKELY,
        (since, again or until if full is None else full[0]),
        ongoing=is_open and goes_on,
        severity=severity,
        explains=() if severity is Severity.NOTICE else _brings(incident),
        statement=statement,
        measures={"lines": lines[lead], "actors": len(who)},
        evidence=(
            *([reason.because(say("why"))] if reason else []),
            *_evidence(said, lead),
            *(e.last.because(say("went-well")) for e in well[:1]),
            *(e.first.because(say("connects")) for e in connected[-1:]),
            *(full[1:] if full is not None else ()),
        ),
        mitigate=lead.now or (texts.mitigate if not reason or cause == lead.causes[0] else None),
        remedy=lead.fix,
        verify=None if lead.now else texts.verify,
        facts={
            **{"error": lead.name, "software": lead.software, "versions": lead.versions},
            WORKS_AGAIN: say("works-again", at=moment(again)) if again else None,
        },
    )


def _is_below(episode: Episode, head: Episode) -> bool:
    """It stands in the lines of an exception that *head* may begin."""
    return episode.source == head.source and 0 < (episode.first.line or 0) - (head.first.line or 0) <= _BELOW


def _reason(facts: Facts, said: Sequence[_Said], lead: KnownError) -> tuple[Evidence | None, str | None]:
    """The exception below the lines, where it is none of them, and the cause of *lead* that lines hint at."""
    heads, lines = dict(reversed(said)).values(), {e.first.line for _, e in said}
    records = [place for head in heads for place in facts.below(head.first)]
    known = [e for e in facts.of_kind(*(error.kind for error in known_errors().values())) if is_reason(e.first.text)]
    of_others = [e.first for e in known if any(_is_below(e, head) for head in heads) and e not in [o for _, o in said]]
    told = [f"{e.reason or ''} {e.first.text}" for _, e in said]
    heads_above = [
        place for error, e in said if error is lead and is_reason(e.first.text) for place in facts.above(e.first)
    ]
    hinted = lead.hinted((*told, *(place.text for place in (*records, *of_others, *heads_above[:1]))))
    unknown = (place for place in reversed(records) if is_reason(place.text) and place.line not in lines)
    return next(chain(unknown, of_others), None), hinted


def _meanwhile(facts: Facts, own: Sequence[Episode]) -> int:
    """How often those who said it were connected between their first and last line: it was no single outage."""
    since, until = span(at for e in own for at in (e.first_at, e.last_at))
    made = {(c.source, c.first_at) for e in own for c in connections(facts, e)}
    inside = [(source, at) for source, at in made if at and since and until and since < at < until]
    return max(Counter(source for source, _ in inside).values(), default=0)


def _excused(facts: Facts, said: Sequence[_Said]) -> int:
    """Lines of the same logs that say the same, for which a start accounts."""
    known, own = benign_lines.starts(facts), [e for _, e in said]
    errors = {(e.source, e.kind): error for error, e in said}
    others = (e for e in facts.of_kind(*{e.kind for e in own}) if e not in own and (e.source, e.kind) in errors)
    return sum(e.count for e in others if _explained(facts, known, errors[e.source, e.kind], e))


_Answer = tuple[str, str, str | None]
"""A log, the kind of the line with which it says that something is over, and what that is."""


def _answer(source: str, kind: str, told: Episode) -> _Answer:
    """What clears an alarm names it, and who reaches a broker its address."""
    return source, kind, {_CLEARED: told.reason, _ANSWERED: told.peer}.get(kind)


def _went_well(facts: Facts, said: Sequence[_Said]) -> list[Episode]:
    """The first line of each log, behind the last error in it, that says that it went well; none where one has none.

    Lines that clear an alarm are counted by ten seconds, as those that raise it are.
    """
    lasts: dict[_Answer, float | None] = {}
    for _, e in said:
        answer = _answer(e.source, _ANSWERS.get(e.kind, _RECOVERED), e)
        lasts[answer] = span((lasts.get(answer), e.last_at))[1]
    found: dict[_Answer, Episode] = {}
    for line in facts.of_kind(_RECOVERED, _CLEARED, _ANSWERED):
        answer = _answer(line.source, line.kind, line)
        last, at = lasts.get(answer), line.last_at if line.kind == _CLEARED else line.first_at
        if last is not None and at is not None and at >= last:
            found.setdefault(answer, line)
    return list(found.values()) if found.keys() == lasts.keys() else []


def _alarms(facts: Facts, said: Sequence[_Said]) -> Iterator[tuple[float, float | None]]:
    """From when to when each alarm was up; until None where its broker did not clear it."""
    for alarm in sorted({(e.source, e.reason or "") for _, e in said if e.kind == _RAISED}):
        since: float | None = None
        for e in facts.of_kind(_RAISED, _CLEARED):
            if (e.source, e.reason or "") != alarm:
                continue
            if e.kind == _RAISED:
                since = e.first_at if since is None else since
            elif since is not None and e.last_at is not None:
                yield since, e.last_at
                since = None
        if since is not None:
            yield since, None


def _is_long_up(facts: Facts, said: Sequence[_Said]) -> bool:
    return any(up_to is None or up_to - since > PASSING for since, up_to in _alarms(facts, said))


def _is_calm(line: str) -> bool:
    """The line is told at INFO or below: whatever it names, whoever says it goes on."""
    level = _LEVEL.search(line[:_HEAD])
    return level is not None and level[1] is not None


def _severity(facts: Facts, incident: str, said: tuple[_Said, ...], *, ongoing: bool) -> Severity:
    ends = any(error.fatal and not (incident in _WORST and _is_calm(e.first.text)) for error, e in said)
    is_fatal = ends or _brings_down(facts, incident, said)
    until = span(e.last_at for _, e in said)[1]
    later = [e for e in facts.of_kind(*_RUNNING) if until is not None and e.first_at is not None and e.first_at > until]
    came_up = {folder(e.source) for _, e in said} <= {folder(e.source) for e in later}
    if is_fatal and (came_up or (_went_well(facts, said) and not _is_long_up(facts, said))):
        return Severity.NOTICE
    sources = {e.source for _, e in said}
    well = [e.first_at for e in facts.of_kind(*benign_lines.WORKS) if e.source in sources and e.first_at is not None]
    is_over = not ongoing or (until is not None and any(at >= until for at in well))
    looping = any(_at_each_start(facts, source, [e for _, e in said if e.source == source]) for source in sources)
    brief = not looping and all(e.kind != _LOST for _, e in said)
    passed = is_over and brief and _longest((e for _, e in said), well) <= PASSING
    plain = [e for error, e in said if not error.vague]
    if not is_fatal and (passed or not plain or sum(e.count for _, e in said) < REPEATED):
        return Severity.NOTICE
    return Severity.CRITICAL if is_fatal and incident in _WORST else Severity.WARNING


def _brings_down(facts: Facts, incident: str, said: tuple[_Said, ...]) -> bool:
    """Right after it the same log says what ends the process, and that is a consequence of it."""
    errors = [
        error for slug in _brings(incident) if slug in EXPLAINS for own in of_class(slug).values() for error in own
    ]
    fatal = [error for error in errors if error.fatal]
    ends = [
        (e.source, e.first_at)
        for error in fatal
        for e in facts.of_kind(error.kind)
        if e.first_at is not None and error.says(e.reason, e.first.text)
    ]
    return any(source == e.source and 0 <= at - (e.first_at or at) <= AFTER for source, at in ends for _, e in said)


def _longest(episodes: Iterator[Episode], well: Sequence[float]) -> float:
    """Seconds of the longest time in which it came again and again, and nothing was *well* between."""
    dated = [(e.first_at, e.last_at) for e in episodes if e.first_at is not None and e.last_at is not None]
    longest, begin, last = 0.0, 0.0, float("-inf")
    for first, end in sorted(dated):
        is_new = first - last > AFTER or any(last <= at <= first for at in well)
        begin = first if is_new else begin
        last = max(last, end)
        longest = max(longest, last - begin)
    return longest


def _evidence(said: tuple[_Said, ...], lead: KnownError) -> tuple[Evidence, ...]:
    """The first and the last line of the error that leads, the first one of each other."""
    own = [episode for error, episode in said if error is lead]
    places = [own[0].first.because(lead.means), own[-1].last]
    firsts = {error: episode.first for error, episode in reversed(said) if error is not lead}
    places += [place.because(error.means) for error, place in firsts.items()]
    return tuple({(p.source, p.line): p for p in reversed(places)}.values())[::-1][: _SHOWN + 1]


def _called(facts: Facts, every: Sequence[Episode]) -> dict[Episode, str]:
    """Who says each: a client that two logs tell of, such as its program's and its library's, has one name.

    A library writes to a file in the folder that is named after the program: ``scan.log`` and ``scan/client.log``.
    """
    own = {e: owner(facts, e) or e.group for e in every}
    programs = {
        f"{folder(e.source)}/{base_name(e.source)}".lstrip("/"): base_name(e.source) for e in every if not own[e]
    }
    return {e: programs.get(folder(e.source)) or own[e] or base_name(e.source) for e in every}


def _names(found: Iterator[str | None]) -> list[str]:
    """Each name once, the most frequent first."""
    times = Counter(name for name in found if name)
    return sorted(times, key=lambda name: (-times[name], name))
