"""What a paste says: up to sixty lines, on standard input or in one small file.

A paste shows a moment of one side; nothing is clear, over or ruled out by it. So the screen says what the lines mean,
what they do not show, which causes there are and what speaks for each, how to tell, and what to gather::

    PASTE    6 lines: log of a broker (kafka); 14:54:38 UTC, 2026-03-09
    SAYS     startup-failure: Another process holds the lock of the broker's log directory.
               -:3  org.apache.kafka.common.KafkaException: Failed to acquire lock on file .lock in /var/lib/kafka. …
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from mqlab import scope
from mqlab.catalogue import INCIDENTS
from mqlab.clocks.zones import ASSUMED
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Episode, Facts, span
from mqlab.findings import Evidence
from mqlab.hypotheses import Hypothesis, has_sign
from mqlab.known_errors import KnownError, is_reason, known_errors
from mqlab.languages import said
from mqlab.marks import GENERAL, complaints, meaning, waiting
from mqlab.screens.rows import proof, row
from mqlab.shared.benign_lines import WORKS
from mqlab.sources import Role
from mqlab.units import is_dateless
from mqlab.words import room

say = room("paste")

LINES = 60
"""Lines of a paste, as people copy them out of a terminal or a ticket. Judgement, nothing hangs on it but which screen
is shown."""
_SAID = 3
_CAUSES = 2
_SIGNS = 2
_LONGEST = 4
"""Rows of the screen that a line of the paste may take."""
_LOST = ("connection-lost", "client-disconnected")
_COUNTED = (Role.COMMAND, Role.METRICS)
"""What is read together: a line of it says little by itself."""
_WELL = (*WORKS, "recovered", "alarm-cleared", "broker-answers", "broker-started", "rocketmq-broker-started", "serves")
"""Events that say that something works."""


@dataclass(frozen=True, slots=True)
class Told:
    """What some of the lines say."""

    incident: str
    text: str
    lines: int
    last_line: int
    place: Evidence
    error: KnownError | None = None
    cause: str | None = None
    """The one of the error's causes that a line hints at."""
    reason: Evidence | None = None
    """The line of the exception below it, where nobody knows that one."""
    step: str = ""
    """What to do about what a rule found."""


def is_paste(facts: Facts) -> bool:
    """Whether what was read are the lines of one file, no more than somebody copies by hand."""
    files = {c.source.partition(" (")[0] for c in facts.coverage}
    return len(files) == 1 and 0 < sum(c.lines for c in facts.coverage) <= LINES


def paste_screen(facts: Facts, diagnosis: Diagnosis, tz: tzinfo = UTC) -> str:
    """The screen for a paste."""
    found = tuple(_of_rules(diagnosis))
    ours = {(one.incident, one.place.place) for one in found}
    told = sorted((*found, *(t for t in _of_lines(facts) if (t.incident, t.place.place) not in ours)), key=_rank)
    lead = told[0] if told else None
    well = _well(facts, diagnosis, lead)
    lines = [
        *_head(facts, tz),
        *(_says(facts, told, diagnosis, well) if told else _says_nothing(facts, diagnosis, well)),
        *(_causes(lead) if lead else () if well else _signs(facts, diagnosis)),
        *([proof("AFTER IT", well)] if well else ()),
        *_not_shown(facts, lead),
        *_next(facts, lead),
    ]
    return "\n".join(one.rstrip() for one in lines) + "\n"


def _of_lines(facts: Facts) -> Iterator[Told]:
    """Each known error in the lines but those that another line before brought about."""
    every: dict[KnownError, list[Episode]] = {}
    for episode in facts.of_kind(*GENERAL, *{error.kind for error in known_errors().values()}):
        if (error := meaning(episode)) is not None:
            every.setdefault(error, []).append(episode)
    known = {e.first.line for episodes in every.values() for e in episodes}
    for error, episodes in every.items():
        first = episodes[0].first
        if any((e.first.line or 0) < (first.line or 0) for e in facts.of_kind(*error.unless)):
            continue
        record = facts.below(first)
        head = facts.above(first) if is_reason(first.text) else ()
        yield Told(
            error.incident,
            error.means,
            sum(e.count for e in episodes),
            max(e.last.line or 0 for e in episodes),
            first,
            error,
            error.hinted(
                (*(f"{e.reason or ''} {e.first.text}" for e in episodes), *(place.text for place in (*head, *record)))
            ),
            _reason(record, known),
        )


def _reason(record: Sequence[Evidence], known: Collection[int | None]) -> Evidence | None:
    """The innermost exception of a record whose meaning is not *known*; None where there is none."""
    return next((place for place in reversed(record) if is_reason(place.text) and place.line not in known), None)


def _of_rules(diagnosis: Diagnosis) -> Iterator[Told]:
    """What rules found that see more than one line."""
    for finding in diagnosis.findings:
        if "error" not in finding.facts and finding.evidence:
            last = max(place.line or 0 for place in finding.evidence)
            place = finding.evidence[0]
            yield Told(finding.incident, finding.statement, 1, last, place, step=finding.mitigate)


def _rank(told: Told) -> tuple[bool, ...]:
    """What says most comes first: a rule, an error with one meaning, the reason that stands below another."""
    error = told.error
    return (error is not None and error.vague, error is not None, not is_reason(told.place.text))


def _head(facts: Facts, tz: tzinfo) -> Iterator[str]:
    moments = [at for c in facts.coverage for at in (c.first_at, c.last_at)]
    since, until = span((*moments, *(at for e in facts.episodes for at in (e.first_at, e.last_at))))
    dated = since is not None and not is_dateless(since)
    told = say(
        "paste",
        lines=sum(c.lines for c in facts.coverage),
        kinds=scope.kinds(facts) or None,
        since=_clock(since, tz),
        until=None if _clock(until, tz) == _clock(since, tz) else _clock(until, tz),
        date=f"{datetime.fromtimestamp(since, tz):%Y-%m-%d}" if dated and since is not None else None,
        zone=("UTC" if tz is UTC else str(tz)) if _states_zone(facts) else None,
    )
    yield from row("PASTE", told, 2)


def _states_zone(facts: Facts) -> bool:
    """Nothing was assumed of its clocks."""
    return all(c.zone_why != ASSUMED.why for c in facts.coverage)


def _as_written(facts: Facts, text: str) -> str:
    """*text* without the zone of its moments, where the lines state none."""
    return text if _states_zone(facts) else said(text).replace(" UTC", "")


def _clock(at: float | None, tz: tzinfo) -> str | None:
    """Time of day in *tz*; as it was written where nothing tells the date."""
    return None if at is None else f"{datetime.fromtimestamp(at, UTC if is_dateless(at) else tz):%H:%M:%S}"


def _says(facts: Facts, told: Sequence[Told], diagnosis: Diagnosis, well: Evidence | None) -> Iterator[str]:
    """What lines say; without a class where a later one tells that it works, or the class is open."""
    for number, one in enumerate(told[:_SAID]):
        sure = one.error is None or not (one.error.vague or one.reason or (well and not number))
        incident, lines = one.incident if sure else None, one.lines if one.lines > 1 else None
        text = _as_written(facts, one.text)
        yield from row("" if number else "SAYS", say("says", incident=incident, text=text, lines=lines), 3)
        for place in filter(None, (one.place, one.reason)):
            yield from _line(place)
    places = [*(one.place.place for one in told), *(e.first.place for e in facts.of_kind(*GENERAL))]
    for symptom in [s for s in diagnosis.symptoms if not s.endswith(tuple(places))][: max(0, _SAID - len(told))]:
        yield from row("", _as_written(facts, symptom), 2)


def _says_nothing(facts: Facts, diagnosis: Diagnosis, well: Evidence | None) -> Iterator[str]:
    """The lines that complain, of which nobody knows what they mean; else what listings show that nothing explains.

    And a connection that was lost, after which all is *well*.
    """
    if all(c.role is Role.UNKNOWN for c in facts.coverage):
        yield from row("SAYS", say("unread"))
        return
    loud = complaints(facts)[:_SIGNS]
    seen = (*diagnosis.symptoms, *(mark.text for mark in waiting(facts, diagnosis.findings)))
    if not loud and seen:
        for number, symptom in enumerate(seen[:_SAID]):
            yield from row("" if number else "SAYS", _as_written(facts, symptom), 2)
        return
    yield from row("SAYS", say("nothing", loud=bool(loud), signs=bool(_likely(facts, diagnosis))), 2)
    for shape in loud:
        yield from _line(Evidence(shape.source, shape.first_line, shape.sample))
        if reason := _reason(facts.below(Evidence(shape.source, shape.first_line, "")), ()):
            yield from _line(reason)
    yield from _line(facts.of_kind(*_LOST)[0].first) if well and not loud else ()


def _line(place: Evidence) -> Iterator[str]:
    """A line of the paste, as long as it is."""
    yield from row("", say("line", place=place.place, text=place.text.strip()), _LONGEST)


def _causes(lead: Told) -> Iterator[str]:
    """Its likeliest causes; none but the one named where the exception is there."""
    if lead.cause:
        yield from row("CAUSE", say("cause", cause=lead.cause), 2)
    elif lead.error and not lead.reason:
        yield from row("MAY BE", say("causes", causes=lead.error.causes[:_CAUSES]), 3)


def _signs(facts: Facts, diagnosis: Diagnosis) -> Iterator[str]:
    """The likeliest classes, where no line tells what it means."""
    likely = _likely(facts, diagnosis)
    shown: set[int | None] = {shape.first_line for shape in complaints(facts)[:_SIGNS]}
    tables = {c.source for c in facts.coverage if c.role in _COUNTED}
    for number, one in enumerate(likely):
        seen = next((text for text in one.explains if one.evidence and one.evidence[0].source in tables), None)
        told = say("may-be", incident=one.incident, title=INCIDENTS[one.incident].title, seen=seen)
        yield from row("" if number else "MAY BE", told, 3)
        yield from (text for place in one.evidence[:1] if place.line not in shown for text in _line(place))
        shown.update(place.line for place in one.evidence[:1])


def _likely(facts: Facts, diagnosis: Diagnosis) -> Sequence[Hypothesis]:
    """Those that something in the lines is a sign of: of few lines, most classes explain some."""
    known = diagnosis.verdict.hypotheses if scope.systems(facts) else ()
    return [one for one in known if one.incident != "healthy" and has_sign(one)][:_CAUSES]


def _well(facts: Facts, diagnosis: Diagnosis, lead: Told | None) -> Evidence | None:
    """The first line that says that it works, behind the lead or the one lost connection that is the only sign."""
    if lead is not None:
        return _works(facts, facts.of_kind(lead.error.kind, *GENERAL), lead.last_line) if lead.error else None
    lost = facts.of_kind(*_LOST)
    signs = {place.line for one in _likely(facts, diagnosis) for place in one.evidence[:1]}
    at = (lost[0].first.line or 0) if sum(e.count for e in lost) == 1 else 0
    signs -= {e.last.line for e in facts.of_kind("ping-unanswered") if e.count == 1 and (e.last.line or 0) < at}
    return _works(facts, lost, at) if at and signs <= {at} else None


def _works(facts: Facts, told: Sequence[Episode], line: int) -> Evidence | None:
    """The first line later than *told*, of which *line* is the last one; lines of two logs by their moments."""
    last = max((e.last_at for e in told if e.last_at is not None), default=None)
    whose = {e.client_id for e in told} - {None}  # a broker tells of every client that comes
    later = [e for e in facts.of_kind(*_WELL) if e.kind != "client-connected" or e.client_id in whose]
    later = [e for e in later if last is None or e.first_at is None or e.first_at >= last]
    return min((e.first for e in later if (e.first.line or 0) > line), key=lambda p: p.line or 0, default=None)


def _not_shown(facts: Facts, lead: Told | None) -> Iterator[str]:
    """What these lines cannot show, where all of them are of one log."""
    roles = {c.role for c in facts.coverage if scope.systems(facts)} if len(facts.coverage) == 1 else set()
    again = lead is not None and lead.error is not None and not lead.error.fatal
    gaps = [
        say("after") if lead is not None and again and _is_last(facts, lead) else None,
        say("broker") if Role.CLIENT_LOG in roles else None,
        say("client") if Role.BROKER_LOG in roles else None,
    ]
    if shown := [gap for gap in gaps if gap]:
        yield from row("NOT HERE", say("not-shown", gaps=shown), 2)


def _is_last(facts: Facts, lead: Told) -> bool:
    """Behind it stands no line but those of its own record."""
    later = [s for s in facts.shapes if s.source == lead.place.source and s.first_line > lead.last_line and s.level]
    return not later and not any((e.last.line or 0) > lead.last_line for e in facts.episodes)


def _next(facts: Facts, lead: Told | None) -> Iterator[str]:
    if lead is not None and lead.error is not None:
        yield from row("CHECK", lead.error.check, 2)
    elif lead is not None:
        yield from row("NEXT", _as_written(facts, lead.step), 3)
    yield from row("GATHER", say("gather", systems=sorted(scope.systems(facts)) or None), 2)
