"""What was seen and not explained, kind by kind: what hypotheses are weighed by.

A mark is all that was seen of one kind: an event that is trouble or that a class prints itself, what a rule saw and
could not decide, connections that end again and again, what waits, symptoms, and lines whose words alone tell of a
class. What a start, an orderly stop or a first join prints is none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mqlab.catalogue import INCIDENTS
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence, Finding, Result
from mqlab.kafka.lives import lives
from mqlab.known_errors import PREFIX, KnownError, known_errors, of_class, words
from mqlab.mqtt import ends
from mqlab.plugins import remembered
from mqlab.rocketmq.members import comes_with_a_change
from mqlab.rows import Shape
from mqlab.shared.actors import log_end
from mqlab.shared.benign_lines import RESTART, STARTING, Starts, remark, starts
from mqlab.shared.queues import lag
from mqlab.shared.reach import is_excerpt
from mqlab.shared.working import CONNECTED
from mqlab.symptoms.deaths import deaths
from mqlab.symptoms.unexplained import Symptom, abnormal, explained, trouble
from mqlab.wordings import wordings
from mqlab.words import room

say = room("marks")

_SEVERE = frozenset({"WARN", "ERROR", "FATAL"})
_FAILURE = re.compile(
    r"(?:exception|error)s?\b|\b(?:fail(?:s|ed|ing|ures?)?|refus\w+|denied|reject(?:s|ed|ing)?|timed[ -]?out|taken over"
    r"|kicked)\b",
    re.IGNORECASE,
)
"""How lines of any program tell of a failure. They are words of their own: ``LogDirFailureHandler: Starting`` tells of
none, and neither does a count of failures, which is 0 in health."""
_SAID = re.compile(
    r"\b(?:unable|can ?not|can't|could not|(?<![.\w])time[ -]?outs?|killed|corrupt\w*|lost|unavailable|expired|unknown"
    r"|invalid|missing|not (?:found|available|connected|authori[sz]ed)|no such|no space|too (?:many|large)"
    r"|already connected)\b",
    re.IGNORECASE,
)
"""How lines tell of one that have no level; what a program writes at INFO it takes to be in order."""
_COUNT = re.compile(r"\w+[ =:]+#")
_DUMP = re.compile(r"RemotingCommand \[.*")
"""RocketMQ's requests as errors quote them: names and values of fields, no words about what went wrong."""
WORDED = "worded-"
"""What the kind of lines begins with that nobody knows but whose words tell of a class (``wordings.toml``)."""
OF_ANYTHING = ("long-pauses", "tool-error")
"""How kinds begin that tell of a class whatever software the material is of."""
GENERAL = ("send-failed", "tool-error")
"""Events whose lines may name their cause behind it."""
_AGAIN = {
    "coordinator-lost": 3, "no-controller": 3, "heartbeat-failed: rebalanc": 3, "replica-fetch-failed": 3,
    "subscription-missing": 3, "subscription-changed: update": 2, "group-unknown": 3,
}  # fmt: skip
"""Events that every failover, restart or new member brings once or twice, and from how many on they are a sign."""
_FEW = 3
"""Part of all records from which once is enough: nobody copies what every restart brings out of a whole log."""
_AMONG = 3
"""Lines of a whole log from which what their words suggest is a sign: one or two are among thousands by chance.
Judgement, no default behind it."""
_PASTE = 20
"""Records of what somebody copied by hand: he left out what does not matter."""
_FAILOVER = ("coordinator-lost", "no-controller")
"""Events that a start prints until somebody leads."""
_STOPPED = ("log-truncated", "replica-fetch-failed")
"""Events that follow where a broker is stopped in good order, and others lead on meanwhile."""
_SPARK = re.compile(r"spark-kafka-source-.*-driver-\d+$")
BEHIND = 500
"""Messages in a queue that wait in health: as many as one poll takes (max.poll.records)."""
_NO_WAY = ("broker-unreachable",)
"""Classes that a connection refutes."""
LINES = 3
"""Lines that are cited for each."""
_EMPTY = frozenset({"group-emptied", "group-offline", "tool-error"})
_BACK = (
    *("member-joined", "consumer-connected", "rebalance-stabilized", "join-completed"),
    *("consumer-starting", "queues-allocated"),
)
"""Events that say that a group has members."""
_GOODBYES = frozenset({"app-stopping", "consumer-stopped", "consumer-closed", "leave-sent"})
_ENDS = ("app-stopping", "consumer-closed", "consumer-stopped", "process-exit")
_BEGINS = ("app-started", "settings-printed", "client-created", "client-configured", "consumer-starting")


@dataclass(frozen=True, slots=True)
class Mark:
    """All that was seen of one kind."""

    kind: str
    lines: int
    text: str
    evidence: tuple[Evidence, ...]
    at: float | None


@remembered
def signs(slug: str) -> frozenset[str]:
    """Kinds of events that the mechanism of a class prints itself, and the known errors that are signs of it."""
    known = (kind for kind in of_class(slug) if kind.startswith(PREFIX))
    return frozenset((WORDED + slug, *INCIDENTS[slug].signs, *known))


def meaning(episode: Episode) -> KnownError | None:
    """The known error that an event is: of its kind, or the reason of a line that says no more than that it failed."""
    errors = known_errors().values()
    if episode.kind in GENERAL:
        return next((error for error in errors if error.contains and _names(error.kind, episode)), None)
    own = (error for error in errors if error.kind == episode.kind)
    return next((error for error in own if error.says(episode.reason, episode.first.text)), None)


def _is_said(episode: Episode) -> bool:
    """The table of known errors does not leave it out."""
    return episode.kind in GENERAL or meaning(episode) is not None


def complaints(facts: Facts) -> tuple[Shape, ...]:
    """Lines of WARN or worse, or that tell of a failure, outside starts, and that are no event; most frequent first."""
    leveled = {s.source for s in facts.shapes if s.level}  # what has no level there belongs to a record that has one
    return tuple(s for s in _complaining(facts) if s.level or s.source not in leveled)


def _complaining(facts: Facts) -> Sequence[Shape]:
    begun = starts(facts)
    loud = [s for s in facts.shapes if _complains(s) and not remark(facts, s) and not begun.around(s)]
    return sorted(loud, key=lambda s: (-s.lines, s.source, s.first_line))


def _complains(shape: Shape) -> bool:
    if (shape.level or "") in _SEVERE:
        return True
    told = _COUNT.sub("", shape.shape)
    return bool(_FAILURE.search(told) or (shape.level is None and _SAID.search(told)))


def of_events(facts: Facts, findings: Sequence[Finding]) -> Iterable[Mark]:
    """Events that are trouble or a class's own sign, and that no finding explains; the most frequent first."""
    begun = starts(facts)
    records = _records(facts)
    marks = []
    told_of = {kind for slug, i in INCIDENTS.items() for kind in (*signs(slug), *i.accounts_for)}
    for sign in sorted(told_of - given_up(facts.of_kind("record-failed", "listener-failed"))):
        kind, _, reason = sign.lower().partition(": ")
        classes = (*trouble().get(sign, ()), *(slug for slug in INCIDENTS if sign in signs(slug)))
        told = [e for e in facts.of_kind(kind) if reason in (e.reason or "").lower()]
        told += [e for e in facts.of_kind(*GENERAL) if kind.startswith(PREFIX) and _names(kind, e)]
        told = [
            e
            for e in told
            if (
                _is_said(e) and not (begun.around(e) or begun.overcome(facts, e, _again(kind)))
                if kind.startswith(PREFIX)
                else abnormal(facts, e)
            )
        ]
        told = [e for e in told if not (_passes(facts, begun, e) or _was_to_come(facts, e))]
        left = [e for e in told if not explained(e.first_at, findings, classes)]
        lines = sum(e.count for e in left)
        if lines >= _AGAIN.get(sign, 1) or (lines and lines * _FEW >= records):
            marks.append(_mark(sign, left))
    return sorted(marks, key=lambda mark: (-mark.lines, mark.kind))


def given_up(failures: Sequence[Episode]) -> frozenset[str]:
    """Their kinds, where each was the last of a record that its consumer then skipped: nothing waits for it."""
    lines = Counter[str]()
    for e in failures:
        lines[e.kind] += e.count
    skipped = {(e.source, e.topic, e.queue, e.value_max) for e in failures if e.reason == "retries exhausted"}
    return frozenset(lines) if len(skipped) >= max(lines.values(), default=1) else frozenset()


def _records(facts: Facts) -> int:
    return sum(e.count for e in facts.episodes) + sum(s.lines for s in facts.shapes if s.level)


def _again(kind: str) -> float | None:
    return known_errors()[kind.removeprefix(PREFIX)].again


def _names(kind: str, episode: Episode) -> bool:
    """A line that says no more than that a send failed names this known error as the reason."""
    error = known_errors()[kind.removeprefix(PREFIX)]
    return re.search(error.contains or error.begins, f"{episode.first.text} {episode.reason or ''}") is not None


def _passes(facts: Facts, begun: Starts, episode: Episode) -> bool:
    """Part of a start, a stop that nobody undid, or a group without members for a moment, or at the very end."""
    at = episode.first_at
    if at is None:
        return episode.kind == "tool-error" and _had_members_later(facts, episode)
    if episode.topic == "__cluster_metadata":  # Raft truncates only what no majority had
        return episode.kind == "log-truncated"
    if episode.kind == "offset-reset-to":  # Spark's driver looks for the ends of all queues at each trigger
        return bool(_SPARK.match(episode.group or ""))
    if episode.kind in _STOPPED:
        return any(at - STARTING <= (e.first_at or 0.0) <= at for e in facts.of_kind("broker-stopping"))
    if episode.kind in _FAILOVER:
        end = log_end(facts, (episode.source,)) or at
        return begun.around(episode) or (begun.at_begin(episode) and end - at > RESTART)
    if episode.kind == "member-joined":  # a first join is no sign of anything
        return not _came_again(facts, episode, at) or _forms_group(facts, episode)
    if episode.kind in _GOODBYES:
        later = any(e.source == episode.source and (e.first_at or 0.0) >= at for e in facts.of_kind(*_BEGINS))
        asked = any(
            e.source == episode.source and abs((e.first_at or at) - at) <= RESTART for e in facts.of_kind(*_ENDS)
        )
        return asked and not later
    return episode.kind in _EMPTY and _is_over(facts, episode, at)


def _is_no_rollout(facts: Facts, stop: Episode, at: float) -> bool:
    """A stop at the end of the material, or of the only broker that stopped, and came back in the same version."""
    starts = [e for e in facts.of_kind("broker-starting") if e.source == stop.source]
    later = [e for e in starts if e.first_at is not None and e.first_at >= at]
    if not later:
        return _ends(facts, at)
    alone = {e.source for e in facts.of_kind("broker-stopping")} == {stop.source}
    return alone and later[0].reason is not None and later[0].reason == stop.reason


def _was_to_come(facts: Facts, episode: Episode) -> bool:
    """What members print as they come and go, a single broker's restart, or a query while its broker was gone."""
    if episode.kind == "tool-error":
        return any(one.holds(episode.first_at) for one in deaths(facts))
    if episode.kind == "broker-stopping" and episode.first_at is not None:
        return _is_no_rollout(facts, episode, episode.first_at)
    return comes_with_a_change(facts, episode)


def _is_over(facts: Facts, episode: Episode, at: float) -> bool:
    """A question was answered later, as after the start of a broker; a group had members, or nothing to read.

    A group that broadcasts has no retry topic, which RocketMQ's tools ask for all the same.
    """
    if "%RETRY%" in f"{episode.reason} {episode.first.text}":
        return episode.kind == "tool-error"
    if not episode.group:
        seen = (row.at for rows in (facts.positions, facts.assignments, facts.clients) for row in rows)
        return episode.kind == "tool-error" and any(when is not None and when >= at for when in seen)
    own = [p for p in facts.positions if p.group == episode.group and p.at is not None and p.at >= at]
    joined = [e for e in facts.of_kind(*_BACK) if e.group == episode.group and (e.last_at or 0.0) >= at]
    waiting = sum(lag(p) for p in own if None not in (p.committed, p.end) and p.at == own[-1].at)
    listed = [*((p.group, p.at) for p in facts.positions if p.member_id), *((c.group, c.at) for c in facts.clients)]
    had_members = any(group == episode.group and (when or at) < at for group, when in listed)
    is_last = _ends(facts, at) and (had_members or episode.kind != "tool-error")
    return bool(joined) or any(p.member_id for p in own) or bool(own and waiting <= BEHIND) or is_last


def _had_members_later(facts: Facts, listing: Episode) -> bool:
    """Of outputs without a clock: one further down in the same file lists members of the group."""
    own = [p for p in facts.positions if (p.group, p.source) == (listing.group, listing.source)]
    return any((p.client_id or p.member_id) and (p.line or 0) > (listing.first.line or 0) for p in own)


def _came_again(facts: Facts, join: Episode, at: float) -> bool:
    """A member of that name had been there before; of members without names any other one may be it."""
    names = {life.member_id: life.client_id for life in lives(facts, join.group or "")}

    def name(line: Episode) -> str | None:
        known = line.client_id or names.get(line.member_id or "")
        return None if known == line.member_id else known

    own = [e for e in facts.of_kind("member-joined") if e.group == join.group and (e.first_at or 0.0) < at]
    return any(name(join) in (None, name(e)) or name(e) is None for e in own)


def _forms_group(facts: Facts, join: Episode) -> bool:
    """The group's first generation has all members that joined until then: even of one name, none came again."""
    first = [e for e in facts.of_kind("rebalance-stabilized") if e.group == join.group and e.value_min == 1]
    until = first[0].first_at if first else None
    own = [e for e in facts.of_kind("member-joined") if e.group == join.group]
    ids = {e.member_id for e in own if until is not None and (e.first_at or 0.0) <= until}
    return join.member_id in ids - {None} and first[0].reason == str(len(ids))


def _ends(facts: Facts, at: float) -> bool:
    """The material ends soon after *at*: what stopped then may be all that was gathered from."""
    return (facts.covered_until() or at) - at <= RESTART


def _printed_by(kind: str) -> str:
    """The versions that print such lines, where not all do; for an older signature other software has lines, too."""
    told = {(e.software, e.versions) for e in known_errors().values() if e.kind == kind and not e.event}
    return printed_by(*told.pop()) if len(told) == 1 else ""


def printed_by(software: str, versions: str) -> str:
    """The *software* and its *versions* in words; nothing where all of them do."""
    return "" if versions.startswith("all") else say("printed", software=software, versions=versions)


def _mark(kind: str, episodes: Sequence[Episode]) -> Mark:
    lines = sum(episode.count for episode in episodes)
    who = Counter[str]()
    for episode in episodes:
        who[episode.client_id or episode.group or episode.topic or ""] += episode.count
    names = [name for name, _ in who.most_common() if name]
    at = episodes[0].first_at
    printed = _printed_by(kind) or None
    text = say("mark", what=words()[kind], versions=printed, lines=lines, several=lines > 1, at=at, names=names)
    places = tuple(episode.first.because(words()[kind]) for episode in episodes[:LINES])
    return Mark(kind, lines, text, places, at)


def suspected(results: Mapping[str, Result]) -> Iterable[Mark]:
    """What rules saw of their classes, and could not decide."""
    return [
        Mark(slug, max(1, len(result.evidence)), result.seen, result.evidence[:LINES], None)
        for slug, result in results.items()
        if result.seen and not result.findings
    ]


def broken(facts: Facts, findings: Sequence[Finding]) -> Iterator[Mark]:
    """Connections of one client that ended again and again, at once or without a good-bye."""
    left = [e for e in facts.of_kind(*ends.KINDS) if not explained(e.first_at, findings, None)]
    if brief := ends.brief(left):
        yield _mark("connection-lost: at once", brief)
    elif broken := ends.broken(left, few=_records(facts) <= _PASTE):
        yield _mark("connections-broken", broken)


def worded(facts: Facts) -> Iterator[Mark]:
    """Lines that complain and that nobody knows, by the class of which their words tell."""
    told = _complaining(facts)
    for slug, wording in wordings().items():
        ours = [
            s
            for s in told
            if wording.search(_DUMP.sub("", s.sample or s.shape)) and not (slug in _NO_WAY and _was_connected(facts, s))
        ]
        if sum(s.lines for s in ours) >= (1 if is_excerpt(facts) else _AMONG):
            kind = say("worded")
            text = say("complaints", lines=sum(s.lines for s in ours), shape=ours[0].shape.strip()[:80])
            places = tuple(Evidence(s.source, s.first_line, s.sample or s.shape, kind) for s in ours[:LINES])
            yield Mark(WORDED + slug, sum(s.lines for s in ours), text, places, ours[0].first_at)


def _was_connected(facts: Facts, shape: Shape) -> bool:
    """The same log says behind the line that its client has a connection."""
    made = (e.last.line or 0 for e in facts.of_kind(*CONNECTED, "queues-allocated") if e.source == shape.source)
    return max(made, default=0) > shape.first_line


def of_symptoms(symptoms: Sequence[Symptom], told: Collection[str]) -> Iterable[Mark]:
    """Symptoms of other kinds than those *told*: counters, lag, copies, lines that nobody knows."""
    return [Mark(s.kind, s.lines, s.text, (), s.at) for s in symptoms if s.kind not in told]


def waiting(facts: Facts, findings: Sequence[Finding]) -> Iterable[Mark]:
    """Queues of which more waits for a group than one poll takes, where the last snapshot shows it."""
    last = {(p.group, p.topic, p.queue): p for p in facts.positions if None not in (p.committed, p.end)}
    behind = [p for p in last.values() if lag(p) > BEHIND and not explained(p.at, findings, None)]
    ahead = [
        p for p in last.values() if (p.committed or 0) - (p.end or 0) > BEHIND and not explained(p.at, findings, None)
    ]
    for kind, queues in (
        ("backlog-negative", ahead),
        ("backlog-read", [p for p in behind if p.client_id or p.member_id]),
        ("backlog-unread", [p for p in behind if not (p.client_id or p.member_id)]),
    ):
        if queues:
            groups = sorted({p.group for p in queues if p.group})
            of_these = {p.peer for p in queues}
            hosts = of_these if None not in of_these and of_these < {p.peer for p in last.values()} - {None} else ()
            count = sum(
                abs((p.end or 0) - (p.committed or 0)) if kind == "backlog-negative" else lag(p) for p in queues
            )
            waiting = say(
                "waiting", messages=count, what=words()[kind], queues=len(queues), groups=groups, hosts=sorted(hosts)
            )
            places = tuple(Evidence(p.source, p.line, p.text, words()[kind]) for p in queues[:LINES])
            yield Mark(kind, len(queues), waiting, places, queues[0].at)
