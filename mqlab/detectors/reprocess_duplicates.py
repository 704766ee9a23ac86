"""Kafka: records are handed out again after a crash or a rebalance, because what was done was not committed.

Fires: the ledgers of a group's members note the same offset more than once. Proven where nearly all of those records
were handled between a partition's last commit and a change of its owner.
Quiet: two groups that read the same topic, one record that a producer stored at two offsets, ledgers without repeats.
Beside poll timeouts, expired or fenced members the repeats are their consequence; a few after a deploy are a notice,
for a group that commits after each poll may repeat its last one.
"""

from __future__ import annotations

from collections import Counter

from mqlab import words
from mqlab.delivery.group_repeats import elsewhere
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.groups.backlog import waited
from mqlab.kafka import advised
from mqlab.kafka.groups import groups
from mqlab.kafka.lives import lives
from mqlab.kafka.rebalances import history
from mqlab.kafka.redelivery import Repeats, commit_gap, repeats
from mqlab.rows import GRID
from mqlab.shared.configured import consumer_value
from mqlab.words import Text, listed

INCIDENT = "reprocess-duplicates"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)

NEARLY_ALL = 0.9
"""Share of the repeats that must fit the rule: rows of ledgers are thinned to ten seconds."""
POLL = 500
"""max.poll.records by default: what one member repeats at most that commits after each poll."""
_SHOWN = 4
_NEAR = 10.0
"""Seconds that the first join of a group (group.initial.rebalance.delay.ms, 3 s) and the stop of all its members may
take."""
_SOON = 60.0
"""Seconds within which partitions have a new owner that begins to read: session.timeout.ms (45 s) and a join."""


def detect(facts: Facts) -> Result:
    """One finding for each group and topic."""
    known = repeats(facts)
    doubled = [repeated for repeated in known if repeated.extra]
    findings = [_finding(facts, repeated) for repeated in doubled if repeated.across or repeated.by_change]
    if found := tuple(finding for finding in findings if finding.evidence):
        return Result(found)
    if findings:
        return Result(missing=(say("no-changes"),), seen=listed(one.statement for one in findings))
    if doubled:
        return Result(rejected=say("own-retries"))
    if known or not _handed_over(facts):
        return CLEAR
    return Result(missing=(say("no-ledgers"),))


def _handed_over(facts: Facts) -> bool:
    """Some group rebalanced that had members before and after it: without that, nothing is handed out again."""
    return any(
        any(life.since is None or life.since < r.started - _NEAR for life in lives(facts, group))
        and any(life.until is None or life.until > r.started + _NEAR for life in lives(facts, group))
        for group in groups(facts)
        for r in history(facts, group)
    )


def _finding(facts: Facts, repeated: Repeats) -> Finding:
    explained = sum(repeated.by_change.values())
    proven = explained >= NEARLY_ALL * repeated.extra and repeated.fitting >= NEARLY_ALL * explained
    since, until = repeated.span
    gap = commit_gap(facts, repeated.group, repeated.topic)
    copies = elsewhere(facts, repeated.group, repeated.topic)
    return finding(
        INCIDENT,
        f"{repeated.group}/{repeated.topic}",
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (since, until),
        severity=_severity(facts, repeated),
        slots={
            **{"group": repeated.group, "topic": repeated.topic, "after": _after(repeated)},
            **{"fallen": _fallen(repeated) or None, "forgotten": repeated.forgotten},
            **{"repeats": repeated.extra, "copies": copies},
            "all_committed": repeated.forgotten == repeated.extra,
            "change": advised.gentler(facts, repeated.group) or None,
            **_helps(repeated, gap),
        },
        measures={
            "duplicated_records": repeated.extra + copies,
            "repeated_records": repeated.again,
            "records_handled": repeated.handled,
            "most_times_handled": repeated.most,
            "changes_with_repeats": len(repeated.by_change),
            "commit_interval_seconds": gap if gap is not None and gap > GRID else None,
            **waited(facts, repeated.group, since, until),
        },
        evidence=_evidence(facts, repeated),
        facts={
            "ledgers": ", ".join(repeated.sources),
            "went back": say("went-back") if 2 * repeated.forgotten > repeated.extra else None,
        },
    )


def _after(repeated: Repeats) -> list[Text]:
    """How many repeats came after which kind of change."""
    by_kind: Counter[str] = Counter()
    for change, extra in repeated.by_change.items():
        by_kind[change.what] += extra
    told = {"at_most": repeated.at_most}
    return [say("after", repeats=extra, change=kind, **told) for kind, extra in by_kind.most_common(_SHOWN)]


def _fallen(repeated: Repeats) -> list[Text]:
    """Partitions whose committed offset went back."""
    return [
        say("fell", topic=one.topic, queue=one.queue, high=one.committed, low=two.committed, at=one.at, until=two.at)
        for one, two in list(repeated.fallen)[:_SHOWN]
    ]


def _helps(repeated: Repeats, gap: float | None) -> dict[str, bool]:
    """Which repairs would have helped most: one that is out of the group, or dead, commits nothing when it changes."""
    changes = repeated.by_change.items()
    outside = sum(extra for change, extra in changes if change.fault)
    dead = sum(extra for change, extra in changes if change.crash and not change.fault)
    orderly = sum(repeated.by_change.values()) - outside - dead
    kept = 2 * repeated.forgotten <= repeated.extra
    return {
        "lost": not kept,
        "outside": kept and outside > max(dead, orderly),
        "killed": kept and bool(dead) and not orderly,
        "promptly": gap is not None and gap <= GRID,
    }


def _severity(facts: Facts, repeated: Repeats) -> Severity:
    """Critical from more repeats on than a group makes that commits after each poll.

    Behind a fault of another class they are its consequence, so that class leads.
    """
    after_faults = sum(extra for change, extra in repeated.by_change.items() if change.fault)
    if 2 * after_faults > repeated.extra:
        return Severity.WARNING
    # Records of the largest poll: as applications tell, else as they were allowed.
    polled = [b.longest_records for b in facts.batches if b.group in (repeated.group, None)]
    clients = {p.client_id for p in facts.positions if p.group == repeated.group and p.client_id}
    values = [consumer_value(facts, client, "max.poll.records", None) for client in sorted(clients)]
    allowed = [value.number for value in values if value is not None and value.number is not None]
    if repeated.extra > max(polled, default=max(allowed, default=POLL)) * max(1, len(repeated.by_change)):
        return Severity.CRITICAL
    return Severity.WARNING if any(change.crash for change in repeated.by_change) else Severity.NOTICE


def _evidence(facts: Facts, repeated: Repeats) -> tuple[Evidence, ...]:
    """Each change with what the next owner began with; where the group stood then if nothing else tells of it."""
    rows = [
        (p, say(why))
        for pair in list(repeated.fallen)[:1]
        for p, why in zip(pair, ("committed", "went-back"), strict=True)
    ]
    found = [Evidence(p.source, p.line, p.text, why) for p, why in rows]
    for change, extra in list(repeated.by_change.items())[:_SHOWN]:
        again = say("handled-again", change=change.what, repeats=extra, at_most=repeated.at_most)
        found += [place.because(again) for place in change.evidence]
        resumed = [
            (abs(e.first_at - change.until), e.first) for e in facts.of_kind("offset-set")
            if e.topic == repeated.topic and e.group in (repeated.group, None)
            and e.first_at is not None and 0 <= e.first_at - change.at <= _SOON
        ]  # fmt: skip
        nearest = sorted(resumed, key=lambda pair: (pair[0], pair[1].source, pair[1].line or 0))
        found += [place.because(say("resumed")) for _, place in nearest[:2]]
    own = [p for p in facts.positions if (p.group, p.topic) == (repeated.group, repeated.topic) and p.at is not None]
    around = sorted(own, key=lambda p: (abs((p.at or 0.0) - repeated.span[0]), p.source, p.line or 0))
    stood = [Evidence(p.source, p.line, p.text, say("stood")) for p in around[:2]]
    return tuple(dict.fromkeys(found or stood))
