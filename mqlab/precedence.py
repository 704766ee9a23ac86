"""The order of all rows of Facts, which finding comes first, and which change ended it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from math import inf

from mqlab import units, words
from mqlab.catalogue import INCIDENTS
from mqlab.facts import Episode, Facts
from mqlab.findings import Change, Finding, Moment, Severity
from mqlab.known_errors import PREFIX, outright
from mqlab.memo import per_facts
from mqlab.repairs import its_topic
from mqlab.rows import GRID, Assignment, Client, Fate, Flow, TopicFlow
from mqlab.shared.queues import gets_on
from mqlab.shared.reach import reach, works_on


def ordered(facts: Facts) -> Facts:
    """*facts* with every row in its place: the same whatever the order in which they were read."""
    return replace(
        facts,
        episodes=tuple(sorted(facts.episodes, key=_of_episode)),
        series=tuple(sorted(facts.series, key=lambda s: (s.name, sorted(s.labels.items()), s.source, s.original))),
        settings=tuple(sorted(facts.settings, key=lambda s: (s.source, s.line or 0, s.key, s.owner or "", s.value))),
        positions=tuple(sorted(facts.positions, key=lambda p: (p.at or 0.0, p.source, p.line or 0, p.topic, p.queue))),
        clients=tuple(sorted(facts.clients, key=_of_row)),
        assignments=tuple(sorted(facts.assignments, key=lambda a: (*_of_row(a), a.topic, a.queue))),
        tallies=tuple(sorted(facts.tallies, key=lambda t: (t.at, t.source, t.topic, t.queue, t.role))),
        deliveries=tuple(sorted(facts.deliveries, key=lambda d: (d.at, d.topic, d.queue, d.sources))),
        batches=tuple(sorted(facts.batches, key=lambda b: (b.at, b.source, b.line))),
        fates=tuple(sorted(facts.fates, key=_of_fate)),
        parts=tuple(sorted(facts.parts, key=lambda p: (p.source, p.role, p.topic, p.queue))),
        flows=tuple(sorted(facts.flows, key=_of_flow)),
        topic_flows=tuple(sorted(facts.topic_flows, key=lambda f: (f.topic is None, f.topic or "", *_of_flow(f)))),
        receipts=tuple(sorted(facts.receipts, key=lambda r: (r.at, r.source, r.role))),
        passages=tuple(sorted(facts.passages, key=lambda p: (p.sender, p.receiver))),
        shapes=tuple(sorted(facts.shapes, key=lambda s: (s.source, s.first_line, s.shape))),
        rejects=tuple(sorted(facts.rejects, key=lambda r: (r.source, r.line or 0, r.reason))),
        coverage=tuple(sorted(facts.coverage, key=lambda c: c.source)),
        volumes=tuple(sorted(facts.volumes, key=lambda v: v.source)),
    )


def _of_episode(episode: Episode) -> tuple[float, str, str, int, str, str]:
    where = (episode.source, episode.kind, episode.first.line or 0)
    return (episode.first_at or 0.0, *where, episode.topic or "", episode.queue or "")


def _of_fate(fate: Fate) -> tuple[str, str, float, int, str, int]:
    where = (fate.first.source, fate.first.line or 0)
    return (fate.topic, fate.queue, fate.first_at or 0.0, fate.first_offset or 0, *where)


def _of_flow(flow: Flow | TopicFlow) -> tuple[float, str, str, int]:
    return (flow.first_at, flow.sender or "", flow.first.source, flow.first.line or 0)


def _of_row(row: Client | Assignment) -> tuple[float, str, int]:
    return (row.at or 0.0, row.source, row.line or 0)


_ENDED = (-10.0, 60.0)
"""Seconds around a finding's end in which a change may have ended it."""
_CURES = (
    "batch.size", "max.message.bytes", "max.request.size", "timeout.ms", "compression.type", "linger.ms",
    "max.poll.records", "max.poll.interval.ms",
)  # fmt: skip
"""Settings that end incidents, if several changed at once."""


def ordered_by_weight(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """*findings* by severity; consequences after their cause; then by certainty, impact, start and slug.

    An error that is said outright is as severe as what it explains, where that is no surer.
    """
    severity = {f.id: max([f.severity, *(o.severity for o in findings if _explains(f, o))]) for f in findings}

    def consequence(finding: Finding) -> bool:
        return any(
            (finding.incident in other.explains and other.severity == finding.severity) or _explains(other, finding)
            for other in findings
            if other is not finding
        )

    def impact(finding: Finding) -> float:
        messages = sum(finding.measures.get(n, 0.0) for n in ("lost_records", "duplicated_records", "rejected_records"))
        sent = (finding.measures.get(n) for n in ("excess_bytes", "resent_bytes", "bytes_out"))
        return messages * 1e15 + next((n for n in sent if n is not None), 0.0)

    return tuple(
        sorted(
            findings,
            key=lambda f: (
                -severity[f.id],
                consequence(f),
                -f.certainty,
                -impact(f),
                f.started_at.timestamp() if f.started_at else float("inf"),
                f.incident,
                f.id,
            ),
        )
    )


WITHIN = 120.0
"""Seconds before the first refusal in which the retries that belong to it begin: a follower that died leaves the
in-sync set after replica.lag.time.max.ms (30000), and a producer gives up after delivery.timeout.ms (120000)."""


def _explains(cause: Finding, other: Finding) -> bool:
    """*cause* is said outright and no notice, brings *other* about, is as sure, and began before that one ended.

    Writes that are refused below min.insync.replicas are sent again: such retries are no surer than what refuses them.
    """
    if cause.incident not in (*outright(), "under-min-isr") or cause.severity is Severity.NOTICE:
        return False
    if other.incident not in cause.explains:
        return False
    began, since = cause.started_at, other.started_at
    follows = began is not None and since is not None and (began - since).total_seconds() <= WITHIN
    if cause.certainty < other.certainty and not (cause.incident == "under-min-isr" and follows):
        return False
    return began is None or other.ended_at is None or began <= other.ended_at


say = words.room("precedence")

_PACE, _PART = 30.0, 0.1
"""Seconds, and part of the time that it lasted, for which what repeats may pause: heartbeats, retries and scrapes come
within half a minute."""


_DENSE = frozenset({"log-explosion"})
"""Classes of what comes many times a second: a few seconds without it are its end."""


def as_seen(finding: Finding, facts: Facts, window: tuple[float | None, float | None]) -> Finding:
    """*finding*, which lies within the *window* of the material, where counts by ten seconds may begin before it.

    It is only called over where what it was seen in goes on for long enough without it. What lines without a date tell
    has a time of day for readers, and no moment.
    """
    if begins := [at for at in (finding.started_at, finding.ended_at) if at and units.is_dateless(at.timestamp())]:
        began = Moment(min(begins), say("no-date"))
        return replace(finding, started_at=None, ended_at=None, over=False, moments=(began, *finding.moments))
    first, last = (units.moment(at) for at in window)
    begin, end = finding.started_at, finding.ended_at
    begin = max(begin, first) if begin and first else begin
    end = min(end, last) if end and last else end
    seen = replace(finding, started_at=begin, ended_at=end)
    if end is None and seen.ongoing:
        seen = replace(seen, ended_at=_last_sign(seen, facts))
    return replace(seen, over=is_over(seen, facts, window[1]))


def _last_sign(finding: Finding, facts: Facts) -> datetime | None:
    """When what tells of it was last seen, since it began."""
    begin = finding.started_at.timestamp() if finding.started_at else -inf
    signs = [one.last_at for one in own_events(facts, finding) if one.last_at is not None and one.last_at > begin]
    return units.moment(max(signs, default=None))


def is_over(finding: Finding, facts: Facts, last: float | None) -> bool:
    """It happens at a moment, or what it was seen in goes on without it for longer than it paused before.

    That is told up to the *last* moment at most. A group that gets on in all of its queues is a sign, too, and a
    program whose ledger goes on: their logs have no line about it then.
    """
    if finding.ended_at is None or finding.ongoing:
        return False
    end = finding.ended_at.timestamp()
    lasted = end - finding.started_at.timestamp() if finding.started_at else 0.0
    known = INCIDENTS.get(finding.incident)
    if known is not None and known.sudden:
        return True
    sources = {place.source for place in finding.evidence}
    own = reach(facts, sources)
    read = own[1] if own else facts.covered_until() or end
    read = max(read, gets_on(facts, finding.subject.partition("/")[0]) or read, works_on(facts, sources) or read)
    gone = finding.cause_ended_at
    if gone is not None and end <= gone.timestamp() + GRID:
        return min(read, last or read) - end >= max(GRID, pace(finding, own_events(facts, finding)))
    least = GRID if finding.incident in _DENSE else _PACE
    return min(read, last or read) - end >= max(least, _PART * lasted, pace(finding, own_events(facts, finding)))


def own_events(facts: Facts, finding: Finding) -> tuple[Episode, ...]:
    """What tells of it again: signs of its class and known errors, of the kinds and about whom its evidence is."""
    known = INCIDENTS.get(finding.incident)
    signs = known.signs if known else ()
    told = _told_by_place(facts)
    cited = {_about(one) for place in finding.evidence for one in told.get((place.source, place.line), ())}
    own = {key for key in cited if key[0] in signs or key[0].startswith(PREFIX)}
    return tuple(one for one in facts.of_kind(*{kind for kind, *_ in own}) if _about(one) in own)


def pace(finding: Finding, own: Iterable[Episode]) -> float:
    """Seconds for which what tells of it paused at most while it went on."""
    begin, end = finding.started_at, finding.ended_at
    if begin is None or end is None:
        return 0.0
    first, last = begin.timestamp() - GRID, end.timestamp() + GRID
    moments = {at for one in own for at in (one.first_at, one.last_at) if at is not None and first <= at <= last}
    return max((later - at for at, later in pairwise(sorted(moments))), default=0.0)


def _about(episode: Episode) -> tuple[str, str | None, str | None, str | None, str]:
    """Its kind and whom it is about; who wrote it, where it names nobody."""
    named = (episode.client_id, episode.group, episode.topic)
    return (episode.kind, *named, "" if any(named) else episode.source)


@per_facts
def _told_by_place(facts: Facts) -> Mapping[tuple[str, int | None], list[Episode]]:
    """Episodes by the places of their first and their last line."""
    found: dict[tuple[str, int | None], list[Episode]] = defaultdict(list)
    for one in facts.episodes:
        for place in {(one.first.source, one.first.line), (one.last.source, one.last.line)}:
            found[place].append(one)
    return found


def ended_by(finding: Finding, happened: Sequence[Change]) -> Finding:
    """*finding* with the change that probably ended it."""
    if finding.ended_at is None or finding.ongoing or finding.severity is Severity.NOTICE:
        return finding
    end = finding.ended_at.timestamp()
    members = finding.facts.get("members", "").split(", ")
    names = [p for p in (*finding.parties, *members, *its_topic(finding, happened)) if p]
    near = [
        c
        for c in happened
        if c.at is not None
        and _ENDED[0] <= c.at - end <= _ENDED[1]
        and c.before is not None
        and any(f" {name} " in f" {c.what} " for name in names)
    ]
    if not near:
        return finding
    change = min(near, key=lambda c: not c.what.endswith(_CURES))
    return replace(finding, cure=change, evidence=(*finding.evidence, *change.evidence))
