"""How an incident went, in three short parts: what set it off, what began, how it ended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from mqlab import units
from mqlab.catalogue import INCIDENTS
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.findings import Change, Finding
from mqlab.headline import begins, lead
from mqlab.known_errors import WORKS_AGAIN
from mqlab.repairs import its_topic
from mqlab.symptoms.deaths import BROKER, deaths
from mqlab.words import listed, pieces, room

say = room("course")

_BEFORE, _AFTER = 120.0, 10.0
"""Seconds around the beginning of a finding within which a change may have set it off: what is sampled is seen a scrape
or two later. Judgement, no default behind it."""
_AT_END = 120.0
_OF_BROKERS = frozenset({"acks1-failover-loss", "unclean-election-loss", "under-min-isr", "reconnect-storm"})
"""Classes that a broker's death sets off."""
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Step:
    """One part: ``trigger``, ``effect`` or ``end``."""

    name: str
    at: str
    """Empty where no moment is known."""
    text: str
    href: str
    inferred: bool = False


def course(facts: Facts, diagnosis: Diagnosis, changes: Sequence[Change]) -> tuple[Step, ...]:
    """The parts that are known of the leading finding; *changes* as the page numbers them."""
    first = lead(diagnosis)
    if first is None:
        return ()
    anchor = f"#F{diagnosis.findings.index(first) + 1}"
    effect = begins(diagnosis, first)
    moment = units.clock(first.started_at) if first.started_at else ""
    return (
        *_trigger(facts, first, changes, anchor),
        *((Step("effect", moment, effect, anchor),) if effect else ()),
        *_end(first, changes, anchor),
    )


def _trigger(facts: Facts, first: Finding, changes: Sequence[Change], anchor: str) -> Iterator[Step]:
    if died := _died(facts, first):
        yield died
    elif cause := pieces(first.facts.get("cause", ""))[0]:
        members = first.facts.get("members", "")
        short = len(cause) + len(members) < _LONGEST
        yield Step("trigger", "", listed([cause, f"({members})"], " ") if short else cause, anchor)
    else:
        yield from _changed(first, changes)


def _died(facts: Facts, first: Finding) -> Step | None:
    """The brokers that fell silent before the finding was over, where one of them did so before it began."""
    if first.incident not in _OF_BROKERS or first.started_at is None:
        return None
    since, until = first.started_at.timestamp() - _BEFORE, (first.ended_at or first.started_at).timestamp()
    own = [one for one in deaths(facts) if one.kind == BROKER and one.since <= until and one.until >= since]
    if min((one.since for one in own), default=inf) > first.started_at.timestamp() + _AFTER:
        return None
    each = [say("since", who=one.who, since=one.since) for one in own]
    return Step("trigger", "", say("silent", each=each), "#story-timeline", inferred=True)


def _changed(first: Finding, changes: Sequence[Change]) -> Iterator[Step]:
    """The change of something that the finding names, nearest to its beginning; the first of one made several times."""
    if first.started_at is None:
        return
    began, names = first.started_at.timestamp(), [*_named(first), *its_topic(first, changes)]
    near = [
        (abs(one.at - began), number, one.at, one)
        for number, one in enumerate(changes, 1)
        if one.at is not None and -_BEFORE <= one.at - began <= _AFTER
        and (one.before is not None or one.what.startswith("topic "))
        and _bears(first, one)
        and any(f" {name} " in f" {one.what} {one.after} " for name in names)
    ]  # fmt: skip
    nearest = [_made(one) for *_, one in sorted(near, key=lambda entry: entry[:2])[:1]]
    same = [(at, number, one) for _, number, at, one in near if _made(one) in nearest]
    for at, number, one in sorted(same, key=lambda entry: entry[:2])[:1]:
        later = at > began
        text = say("seen-at", change=_words(one), at=one.at) if later else _words(one)
        yield Step("trigger", "" if later else units.clock(one.at), text, f"#C{number}", inferred=True)


def _made(change: Change) -> tuple[str, str, str | None, str | None]:
    """What was changed, without whose it is."""
    kind, key = change.what.partition(" ")[0], change.what.rpartition(" ")[2]
    return kind, key, change.before, change.after


def _bears(first: Finding, change: Change) -> bool:
    """A setting has to be one that the catalogue speaks of for this class; members and sessions need not."""
    key, texts = change.what.rpartition(" ")[2], INCIDENTS.get(first.incident)
    if "." not in key or texts is None:
        return True
    return any(key in text for text in (texts.what, texts.proves, texts.mechanism, texts.mitigate, texts.fix))


def _named(first: Finding) -> list[str]:
    """Whom the finding names, in its subject and its facts."""
    told = (first.facts.get(name, "") for name in ("members", "away", "connected"))
    return [name for text in (*told, *re.split(" -> |/", first.subject)) for name in text.split(", ") if name]


def _words(change: Change) -> str:
    before, after = (
        text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…" for text in (change.before or "—", change.after or "—")
    )
    return say("change", what=change.what, before=before, after=after)


def _end(first: Finding, changes: Sequence[Change], anchor: str) -> Iterator[Step]:
    if first.ongoing:
        yield Step("end", "", say("open"), anchor)
    elif first.ended_at is not None:
        end = first.ended_at.timestamp()
        by = [
            (number, one)
            for number, one in enumerate(changes, 1)
            if first.was_cured_by(one) and one.at is not None and abs(one.at - end) <= _AT_END
        ]
        at = units.clock(first.ended_at)
        if by:
            number, one = by[0]
            yield Step("end", at, say("changed", change=_words(one), at=one.at), f"#C{number}", True)
        else:
            yield Step("end", at, say("works-again" if WORKS_AGAIN in first.facts else "last-sign"), anchor)
