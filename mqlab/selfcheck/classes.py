"""Classes and changes of a diagnosis against each other: what is found is not clear, and what stays is no change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from string import Formatter
from typing import Any

from mqlab import units, words
from mqlab.catalogue import INCIDENTS, Incident
from mqlab.delivery.audit import audits
from mqlab.delivery.rows import Audit, Doubled, Loss, Side
from mqlab.diagnosis import Diagnosis, NotChecked
from mqlab.facts import Episode, Facts
from mqlab.findings import Change, Finding, Severity
from mqlab.known_errors import known_errors
from mqlab.mqtt.brokers import LEAST
from mqlab.mqtt.chain_stages import Whereabouts
from mqlab.rows import GRID
from mqlab.selfcheck.claims import Around, Doubt, say
from mqlab.shared.benign_lines import WANTED

_OF_MESSAGES = ("Delivery: loss and duplication", "MQTT sessions and limits")
"""Families of classes that are known by messages which were lost or came again, and not only have them as a cost."""
_ON_PURPOSE = frozenset({"rolling-restart"})
"""Classes that somebody does, and that break nothing."""
EXITED = "process-exit"
_BADLY = (EXITED, "out-of-memory", "process-given-up", "static-member-fenced", "broker-crashed")
"""Events of a process that nobody wanted to end."""
LOST = frozenset({"lost_records", "dropped_messages", "dropped_records", "diverted_messages", "rejected_records"})
AGAIN = frozenset(
    {"duplicated_records", "duplicated_records_estimated", "repeated_records", "ids_stored_twice"}
    | {"redelivered_messages", "copied_messages", "replayed_messages", "delivered_rows"}
)
"""Measures of messages that are gone, and of those that came more than once."""
_IN_LOG = frozenset({"ids_stored_twice"})
"""The measure of copies that a log holds: no group handled a place twice."""
_COST = "title-cost"
"""What the text is called in the room of a class with which its title tells the cost."""
_CREATED = 1.0
"""Seconds within which brokers tell of a topic and its settings as it is created."""


def place(diagnosis: Diagnosis, _: Facts) -> Iterator[Doubt[Diagnosis]]:
    """A class has one place: found, else not checked, else ruled out, else clear.

    What it may be is neither clear nor ruled out.
    """
    found = {one.incident for one in diagnosis.findings}
    open_ = {one.incident for one in diagnosis.not_checked}
    maybe = {one.incident for one in diagnosis.verdict.hypotheses}
    rejected = {one.incident for one in diagnosis.rejected}
    maybe -= {one.incident for one in diagnosis.rejected if one.dismissed}
    for slug in sorted(found & open_):
        kept = tuple(one for one in diagnosis.not_checked if one.incident != slug)
        yield Doubt(slug, "not_checked", say("found"), replace(diagnosis, not_checked=kept))
    for slug in sorted(rejected & (found | open_ | maybe)):
        yield Doubt(slug, "rejected", say(_other(slug, found, open_)), _not_rejected(diagnosis, slug))
    for slug in sorted({*diagnosis.clear} & (found | open_ | maybe | rejected)):
        yield Doubt(slug, "clear", say(_other(slug, found, open_, rejected)), not_clear(diagnosis, slug))


def benign(finding: Finding, around: Around) -> Iterator[Doubt[Finding | None]]:
    """What is no fault breaks nothing: no crash, no memory used up, no name taken by another one, nothing lost.

    Who is restarted on purpose ends in good order: what was not is no release. Of other classes what happened stays.
    """
    known = INCIDENTS.get(finding.incident)
    if known is None or not known.benign or finding.severity is not Severity.NOTICE:
        return
    left = None if finding.incident in _ON_PURPOSE else replace(finding, severity=Severity.WARNING)
    what = "severity" if left else "finding"
    for one in _bad_ends(finding, around.facts):
        because = say("benign", event=one.kind, at=units.moment(one.first_at), source=one.source)
        yield Doubt(finding.id, what, because, left)
    lost = {name: many for name, many in finding.measures.items() if name in LOST and many >= 1}
    if left and lost:
        yield Doubt(finding.id, what, say("benign-lost", lost=max(lost.values())), left)


def _bad_ends(finding: Finding, facts: Facts) -> Iterator[Episode]:
    """Lines of its own sources and time in which something ended that nobody wanted to end."""
    begin, end = finding.started_at, finding.ended_at
    if begin is None or end is None:
        return
    own = {place.source for place in finding.evidence}
    first, last = begin.timestamp() - GRID, end.timestamp() + GRID
    fatal = {error.kind for error in known_errors().values() if error.fatal and not (error.where or error.event)}
    for one in facts.of_kind(*_BADLY, *fatal):
        mine = one.source in own or one.group == finding.subject
        ordered = one.kind == EXITED and one.value_max in (None, *WANTED)
        if mine and not ordered and one.first_at is not None and first <= one.first_at <= last:
            yield one


def counted(diagnosis: Diagnosis, facts: Facts) -> Iterator[Doubt[Diagnosis]]:
    """Nothing is clear or ruled out that the delivery audit or the way of messages counts.

    Where no finding counts them, no class is clear that is known by such numbers, and nothing is healthy.
    """
    told: list[Loss | Doubled] = []
    for one in audits(facts):
        told += [*one.losses, *one.doubled]
    for slug in sorted({row.incident for row in told if row.incident and _amount(row)}):
        if slug in diagnosis.clear:
            yield Doubt(slug, "clear", say("counted"), not_clear(diagnosis, slug))
        if any(other.incident == slug for other in diagnosis.rejected):
            yield Doubt(slug, "rejected", say("counted"), _not_rejected(diagnosis, slug))
    open_ = _uncounted(diagnosis, facts, told)
    for slug in diagnosis.clear:
        known = INCIDENTS.get(slug)
        if known and any(systems & known.anywhere and names & _numbers(known) for systems, names in open_):
            yield Doubt(slug, "clear", say("uncounted"), not_clear(diagnosis, slug))
    if open_ and diagnosis.verdict.incident == "healthy":
        verdict = replace(diagnosis.verdict, incident="undetermined", statement=say("not-healthy"))
        yield Doubt("healthy", "verdict", say("uncounted"), replace(diagnosis, verdict=verdict))


def _uncounted(
    diagnosis: Diagnosis, facts: Facts, told: Iterable[Loss | Doubled]
) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Where messages were lost or doubled that no finding counts: the systems there, and measures that tell of it."""
    counted = {name for one in diagnosis.findings for name, value in one.measures.items() if value}
    found = []
    for row in told:
        names = LOST if isinstance(row, Loss) else AGAIN
        if row.incident is None and row.side is not Side.PRODUCER and _amount(row) and not names & counted:
            systems = frozenset({"rocketmq" if "/" in row.queue else "kafka"})
            found.append((systems, _IN_LOG if row.side is Side.LOG else names - LOST))
    if any(map(_rest, audits(facts))) and not LOST & counted:
        found.append((frozenset({"kafka", "rocketmq"}), frozenset({"lost_records"})))
    for way in diagnosis.chains:
        systems = frozenset({"mqtt", way.system or "mqtt"})
        if any(stage.again for stage in way.stages) and not AGAIN & counted:
            found.append((systems, AGAIN))
        if any(one.where is Whereabouts.DROPPED and one.low for one in way.gaps) and not LOST & counted:
            found.append((systems, frozenset({"dropped_messages"})))
        unknown = sum(one.low for one in way.gaps if one.where is Whereabouts.UNKNOWN)
        if unknown >= LEAST and not LOST & counted:
            found.append((systems, frozenset()))
    return found


def _rest(audit: Audit) -> int:
    """Acknowledged messages of which nothing tells what became of them: ledgers close for each partition."""
    log = {row.queue: row for row in audit.log}
    rest = 0
    for group in audit.groups:
        own = log.get(group.queue)
        if own is not None and None not in (own.acked, group.handled, group.pending):
            told = (group.handled or 0) + group.lost + (group.pending or 0) + group.unknown
            told += group.by_hand + group.aside + group.earlier
            rest += max(0, (own.acked or 0) - own.lost - told)
    return rest


def _amount(row: Loss | Doubled) -> int:
    return row.least if isinstance(row, Loss) else row.extra


def _numbers(incident: Incident) -> frozenset[str]:
    """Measures by which the title of a class of lost or doubled messages tells what it cost."""
    if incident.family not in _OF_MESSAGES:
        return frozenset()
    try:
        own = words.catalogue(incident.slug, words.ENGLISH).get(_COST, [])
    except LookupError:
        own = []
    texts = [*_templates(own), *incident.cost]
    return frozenset(name.rstrip("?") for text in texts for _, name, _, _ in Formatter().parse(text) if name)


def _templates(texts: str | list[Any]) -> list[str]:
    return [texts] if isinstance(texts, str) else [one for part in texts for one in _templates(part)]


def same(diagnosis: Diagnosis, facts: Facts) -> Iterator[Doubt[Diagnosis]]:
    """Nothing changes from something to the same, nor where something is created with a value that was in force."""
    for change in diagnosis.changes:
        if change.after in (change.before, _in_force(facts, change)) and change.after is not None:
            kept = tuple(one for one in diagnosis.changes if one is not change)
            yield Doubt(change.what, "changes", say("same", value=change.after), replace(diagnosis, changes=kept))


def _in_force(facts: Facts, change: Change) -> str | None:
    """The value before a change of a setting of which none is told; None where it is not known or not one."""
    told = getattr(change.what, "values", {})
    owner = told.get("owner", told.get("topic"))
    if change.before is not None or change.at is None or owner is None or "key" not in told:
        return None
    own = [one for one in facts.settings if (one.owner, one.key) == (owner, told["key"]) and one.at is not None]
    earlier = [one for one in own if (one.at or 0.0) < change.at - _CREATED]
    return max(earlier, key=lambda one: one.at or 0.0).value if earlier else None


def _other(slug: str, found: set[str], open_: set[str], rejected: Collection[str] = ()) -> str:
    """Where the class *slug* stands besides."""
    return "found" if slug in found else "open" if slug in open_ else "rejected" if slug in rejected else "maybe"


def _not_rejected(diagnosis: Diagnosis, slug: str) -> Diagnosis:
    return unchecked(
        replace(diagnosis, rejected=tuple(one for one in diagnosis.rejected if one.incident != slug)), slug
    )


def not_clear(diagnosis: Diagnosis, slug: str) -> Diagnosis:
    """*diagnosis* in which this class was not checked, where it says nothing else of it."""
    return unchecked(replace(diagnosis, clear=tuple(one for one in diagnosis.clear if one != slug)), slug)


def unchecked(diagnosis: Diagnosis, slug: str) -> Diagnosis:
    """*diagnosis* with a class that has no other place among what was not checked: its rule had what it reads."""
    told = {*diagnosis.clear, *(one.incident for one in diagnosis.findings)}
    told |= {one.incident for one in diagnosis.rejected} | {one.incident for one in diagnosis.not_checked}
    if slug in told:
        return diagnosis
    every = sorted((*diagnosis.not_checked, NotChecked(slug, (say("unsettled"),), ())), key=lambda one: one.incident)
    return replace(diagnosis, not_checked=tuple(every))
