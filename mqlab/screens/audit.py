"""The delivery audit as a screen: for each topic the verdict, the way of its messages, what was lost and doubled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, tzinfo

from mqlab.delivery import path as delivery_path
from mqlab.delivery.path import (
    NOT_TOLD,
    PathRow,
    Toll,
    bounded,
    by_gravity,
    cells,
    groups,
    partition,
    path,
    telling,
    total,
)
from mqlab.delivery.risk_rates import Risk
from mqlab.delivery.rows import Audit, Doubled, Loss, Outcome
from mqlab.diagnosis import Diagnosis
from mqlab.findings import Evidence, Finding
from mqlab.languages import said
from mqlab.mqtt.chain_stages import BY_IDS, GONE, Chain, Gap, Stage
from mqlab.screens.rows import LABEL, ROOM, WIDTH, clipped, columns, labelled, line, placed, row
from mqlab.terminal import filled, safe, wrapped
from mqlab.units import number
from mqlab.views import audit_json
from mqlab.views.audit_json import commands_for
from mqlab.words import Text, listed, room

say, of_chain = room("audit-screen"), room("chain")
of_topic = room("delivery-audit")

_SUMS = ("rejected_records", "failed_records", "duplicated_records_at_most")


def loss(diagnosis: Diagnosis, lead: Finding | None, audits: Sequence[Audit] = (), tz: tzinfo = UTC) -> str:
    """What was lost, refused, doubled, or that nothing tells it."""
    inside = [
        of_chain("within-mqtt", way=audit_json.sentence(way, tz)) for way in diagnosis.chains if way.system is None
    ]
    told = [*delivery_path.sentences(audits, tz), *inside, *_found(diagnosis, audits)]
    if lead is not None and lead.measures.get("crashes") and not audits:
        told.append(say("crashes"))
    elif not told:
        told.append(say("chain" if diagnosis.chains else "unchecked"))
    return listed(told)


def _found(diagnosis: Diagnosis, audits: Sequence[Audit]) -> Iterator[str]:
    """What findings counted; losses and doubles only where neither an audit nor a way did.

    Findings of one class are about different subjects and add up; those of two classes may count the same records.
    """
    measures = [finding.measures for finding in diagnosis.findings]
    lost = [m for m in measures if m.get("lost_records")]
    ways = [way for way in diagnosis.chains if way.system is None]
    gone = any(gap.where in GONE for way in ways for gap in way.gaps)
    if lost and not gone and not any(audit.losses for audit in audits):
        least = sum(m.get("lost_records_least", m["lost_records"]) for m in lost)
        most = sum(m.get("lost_records_most", m["lost_records"]) for m in lost)
        bounds = {"least": least, "most": most} if least != most else {}
        yield say("lost", records=sum(m["lost_records"] for m in lost), **bounds)
    for name in _SUMS:
        by_class: dict[str, float] = defaultdict(float)
        for finding in diagnosis.findings:
            by_class[finding.incident] += finding.measures.get(name, 0)
        if most := max(by_class.values(), default=0):
            yield say(name, records=most)
    again = max((m.get("duplicated_records", 0) for m in measures), default=0)
    if again and not any(audit.doubled for audit in audits) and not any(s.again for way in ways for s in way.stages):
        yield say("repeats", repeats=again)


_MOST_SHARES = 8
_MOST_ROWS = 2
_WIDE = 12


def rows(chains: Sequence[Chain], tz: tzinfo = UTC) -> Iterator[str]:
    """A row for each bridge, the worst first."""
    shown = audit_json.worst([chain for chain in chains if chain.system])[:_MOST_ROWS]
    for place, chain in enumerate(shown):
        yield from row("" if place else "CHAIN", audit_json.sentence(chain, tz), 4)


def tables(chains: Sequence[Chain], tz: tzinfo = UTC) -> Iterator[str]:
    """For each way its verdict, its stages, and what is missing with the place that shows it."""
    for chain in audit_json.worst(chains):
        yield ""
        yield clipped(f"{said(audit_json.outcome(chain).upper())}  {safe(audit_json.title(chain))}", WIDTH)
        yield from row("", audit_json.sentence(chain, tz))
        known = say("who", by="ids" if chain.by == "ids" else "counts")
        yield labelled("PATH") + _stage_row("stage", "messages", "copies", known)
        for stage in chain.stages:
            yield from _stage(stage)
        for place, gap in enumerate(chain.gaps):
            yield from _gap("" if place else "MISSING", gap, tz)
        for note in chain.notes:
            yield from row("", note, 2)


def exit_code(chains: Sequence[Chain]) -> int:
    """2 where messages were thrown away, 1 where nothing tells where some are, else 0."""
    told = {audit_json.outcome(chain) for chain in chains}
    return 2 if audit_json.LOST in told else int(audit_json.UNKNOWN in told)


def _stage(stage: Stage) -> Iterator[str]:
    copies = number(stage.again) if stage.again else ""
    told = listed((part for part in (stage.who, "" if stage.how == BY_IDS else stage.how) if part), ", ")
    yield labelled("") + _stage_row(of_chain("step", step=stage.step), audit_json.amount(stage), copies, told)
    several = len(stage.shares) > 1
    for share in stage.shares[:_MOST_SHARES] if several else ():
        yield placed("", _stage_row("", number(share.messages), "", share.who), share.place)
    if several and len(stage.shares) > _MOST_SHARES:
        yield line("", say("more", more=len(stage.shares) - _MOST_SHARES))


def _stage_row(step: str, messages: str, copies: str, who: str) -> str:
    cells = (filled(said(step), _WIDE), filled(said(messages), _WIDE, right=True), filled(said(copies), 8, right=True))
    return clipped("  ".join((*cells, safe(said(who)))), ROOM)


def _gap(label: str, gap: Gap, tz: tzinfo) -> Iterator[str]:
    yield from row(label, audit_json.missing(gap, tz), 2)
    yield from row("", say("how", how=gap.how), 2)
    for place in gap.evidence[:2]:
        where = f"{place.source}:{place.line}" if place.line else place.source
        yield f"{'':<{LABEL}}  {safe(where)}  {clipped(safe(place.text), 60)}".rstrip()


_COLUMNS = (
    "partition", "sent", "acknowledged", "failed", "of them stored", "unanswered", "stored", "handled",
    "committed at", "log", "lost", "skipped", "pending", "doubled", "unknown",
)  # fmt: skip
_ALWAYS = ("partition", "sent", "acknowledged", "stored")
_READ = ("handled", "committed at")
_LESS_TELLING = ("of them stored", "unanswered", "log", "failed")
"""What goes first where numbers are too long for the screen."""
_MOST_STAGES = 24


def path_rows(rows: Sequence[PathRow], group: str | None, looked: str = "") -> Iterator[str]:
    """The table, of offsets that were *looked* at then: a row for each partition, and one for all of them."""
    yield line("PATH", say("to", group=group, looked=looked or None))
    shown = telling(rows, _MOST_STAGES)
    table = [cells(one) for one in (*shown, *([total(rows)] if len(rows) > 1 else []))]
    names = [name for name in _COLUMNS if _shown(name, group, table)]
    for less in _LESS_TELLING:
        width = sum(max(len(name), *(len(one[name]) for one in table)) + 2 for name in names) - 2
        names = [name for name in names if name != less or width <= ROOM]
    yield from columns([names, *([safe(said(one[name])) for name in names] for one in table)], left=(0,))
    if len(shown) < len(rows):
        yield line("", say("in-sum", more=len(rows) - len(shown)))


def _shown(name: str, group: str | None, table: Sequence[Mapping[str, str]]) -> bool:
    """Columns of the path always, others where they say something."""
    if name in (*_ALWAYS, "lost", "doubled"):
        return True
    if name in (*_READ, "pending"):
        return group is not None
    return any(one[name] not in ("", "0", NOT_TOLD) for one in table)


_MOST_PARTS = 8
_MOST_RISKS = 8


def audit_screen(
    audits: Sequence[Audit],
    tz: tzinfo = UTC,
    because: str = "",
    risks: Sequence[Risk] = (),
    ways: Sequence[Chain] = (),
) -> str:
    """Every topic and every way of MQTT messages, those with losses first, and what settings may do.

    *because* says why there is neither.
    """
    ordered = by_gravity(audits)
    lines = [one for audit in ordered for one in ("", *_topic(audit, tz))][1:]
    lines += [*tables(ways, tz)][0 if lines else 1 :]
    lines = lines or wrapped(safe(said(because)), WIDTH)
    lines += ["", *_risks(risks)] if risks else []
    fetch = commands_for(
        [*(words for audit in ordered for words in audit.missing), *([] if audits or ways else [because])]
    )
    lines += [labelled("" if number_ else "FETCH") + safe(one) for number_, one in enumerate(fetch)]
    return "\n".join(one.rstrip() for one in lines) + "\n"


def audit_exit_code(audits: Sequence[Audit], ways: Sequence[Chain] = ()) -> int:
    """2 where something was lost or doubled, 1 where the material cannot say or tells nothing, else 0."""
    if ways:
        return max(exit_code(ways), audit_exit_code(audits) if audits else 0)
    if any(audit.outcome not in (Outcome.COMPLETE, Outcome.IN_LOG, Outcome.UNKNOWN) for audit in audits):
        return 2
    return int(not audits or any(audit.outcome is not Outcome.COMPLETE for audit in audits))


def _topic(audit: Audit, tz: tzinfo) -> Iterator[str]:
    yield clipped(f"{said(of_topic('heading', outcome=audit.outcome))}  {safe(audit.topic)}", WIDTH)
    yield from wrapped(safe(said(audit.statement)), WIDTH)
    if audit.log or audit.groups:
        since, until = audit.looked or (None, None)
        for group in groups(audit):
            yield from path_rows(path(audit, group), group, delivery_path.between(since, until, tz))
    yield from _tolls("LOST", delivery_path.losses(audit), tz)
    yield from _tolls("FAILED", delivery_path.refused(audit), tz)
    yield from _tolls("DOUBLED", delivery_path.doubles(audit), tz)
    for number_, words in enumerate(audit.missing):
        yield from row("" if number_ else "MISSING", words, 2)


def _tolls(label: str, tolls: Sequence[Toll], tz: tzinfo) -> Iterator[str]:
    for number_, toll in enumerate(tolls):
        told = say(
            "toll",
            incident=toll.incident,
            amount=toll.words,
            where=toll.where,
            acknowledged=label == "LOST",
            between=delivery_path.between(toll.since, toll.until, tz) or None,
        )
        yield line("" if number_ else label, told)
        ways = {one.how for one in toll.parts}
        copied = sum(one.records for one in toll.parts if isinstance(one, Doubled))
        counted = say("counted", ways=tuple(ways), copied=copied or None)
        yield from row("", counted, 2) if len(ways) == 1 and all(ways) else ()
        yield from (_part(one, len(ways) > 1) for one in toll.parts[:_MOST_PARTS])
        more = len(toll.parts) - _MOST_PARTS
        if more > 0:
            yield line("", say("more-parts", more=more))


def _risks(risks: Sequence[Risk]) -> Iterator[str]:
    """What settings make possible, whether or not it happened."""
    for place, risk in enumerate(risks[:_MOST_RISKS]):
        unset = isinstance(risk.value, Text) and risk.value.key.startswith("not-set")
        told = say("risk", setting=risk.setting, value=risk.value, owner=risk.owner, may=risk.may, unset=unset)
        yield from row("" if place else "RISKS", told, 2)
        each = delivery_path.at_stake(risk) or None
        yield _placed(say("at-stake", amount=each, effective=risk.effective), risk.evidence)
    if len(risks) > _MOST_RISKS:
        yield line("", say("more", more=len(risks) - _MOST_RISKS))


def _placed(text: str, evidence: Sequence[Evidence]) -> str:
    """*text*, and at its end the first place that shows it."""
    first = evidence[0] if evidence else None
    place = "" if first is None else f"{first.source}:{first.line}" if first.line else first.source
    return placed("", text, place) if place else line("", text)


def _part(one: Loss | Doubled, own_way: bool) -> str:
    records = one.extra if isinstance(one, Doubled) else one.records
    told = say(
        "of-partition",
        partition=partition(one.queue),
        amount=bounded(records, one.least, one.most),
        at=delivery_path.offsets(one) or None,
        how=one.how if own_way and one.how else None,
    )
    return _placed(told, one.evidence)
