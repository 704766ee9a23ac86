"""Delivery audits drawn by hand, as tables."""

from __future__ import annotations

from facts_builder import at, drawn

from mqlab.delivery.risk_rates import Risk
from mqlab.delivery.rows import Audit, Doubled, GroupRow, LogRow, Loss, Outcome, Side
from mqlab.findings import Evidence
from mqlab.views.delivery import CUT, FOLLOWER, LEADER, Acked, AuditView, InSync, Level, Offsets, Reign
from mqlab.words import room

HOSTILE = "<script>alert(1)</script>"


def _log_row(topic):
    return lambda queue, **more: LogRow(topic, str(queue), **more)


def _group_row(topic):
    return lambda group, queue, **more: GroupRow(group, topic, str(queue), **more)


def audit(log="", groups="", *, topic="orders", losses=(), doubled=(), missing=(), outcome=None, told="") -> Audit:
    """One topic; its outcome follows from what was lost and doubled unless it is named."""
    by_parts = {
        (True, True): Outcome.LOST_AND_DOUBLED,
        (True, False): Outcome.LOST,
        (False, True): Outcome.DOUBLED,
        (False, False): Outcome.COMPLETE,
    }
    return Audit(
        topic,
        Outcome(outcome) if outcome else by_parts[bool(losses), bool(doubled)],
        told or f"What became of {topic}.",
        drawn(log, _log_row(topic)) if log else (),
        drawn(groups, _group_row(topic)) if groups else (),
        tuple(losses),
        tuple(doubled),
        tuple(missing),
    )


def losses(text, *, topic="orders", side="log", group=None, how="by ids") -> tuple[Loss, ...]:
    """Rows of queue, incident, records, offsets (``5..9``), since, until; least and most where they differ."""

    def made(queue, incident, records, offsets, since, until, least=None, most=None):
        first, last = (int(n) for n in offsets.split("..")) if offsets else (None, None)
        times = (None if since is None else at(since), None if until is None else at(until))
        least, most = (records if least is None else least), (records if most is None else most)
        where = (Evidence("clients/acked.csv", 10 + int(queue), "a line"),)
        return Loss(
            incident, Side(side), topic, str(queue), group, records, least, most, first, last, *times, how, where
        )

    return drawn(text, made)


def doubled(text, *, topic="orders", side="group", group="sink", how="by ids") -> tuple[Doubled, ...]:
    """Rows of queue, incident, records, extra, since, until."""

    def made(queue, incident, records, extra, since, until):
        where = (Evidence("clients/processed.csv", 20 + int(queue), "a line"),)
        return Doubled(
            incident, Side(side), topic, str(queue), group, records, extra, extra, extra, at(since), at(until), how,
            where,
        )  # fmt: skip

    return drawn(text, made)


def risk(setting, value, owner, *, records=None, low=0, high=None, due=None, may="records are lost") -> Risk:
    """What a setting may do."""
    where = (Evidence(f"clients/{owner.split()[-1]}.log", 2, f"{setting} = {value}"),)
    scope, _, who = owner.partition(" ")
    return Risk(
        setting,
        scope,
        who,
        value,
        "as it stands",
        may,
        "acks1-failover-loss",
        records,
        low,
        high,
        "rate × time",
        where,
        due,
    )


FAILOVER = audit(
    """
    queue  sent   acked  failed  failed_stored  unanswered  stored  lost  doubled  start  end
    0      11002  11002  0       0              0           11002   1562  0        0      9440
    1      11000  11000  0       0              0           11000   0     0        0      11000
    2      11000  11000  0       0              0           11000   0     0        0      11000
    """,
    """
    group  queue  handled  times  committed  pending  lost  doubled  unknown
    sink   0      5035     5035   5035       4405     0     0        0
    sink   1      11000    11000  11000      0        0     0        0
    sink   2      10965    10965  10965      35       0     0        0
    """,
    losses=losses(
        """
        queue  incident             records  offsets     since     until
        0      acks1-failover-loss  1562     1032..2593  10:04:32  10:04:38
        """,
        how="another id was acknowledged later at the same place",
    ),
    told="1,562 of 33,002 acknowledged messages are lost. The other 4,440 that the sink lacks only wait.",
)
"""A leader acknowledged alone and died; the sink is behind."""

ask = room("delivery-audit")
SETTINGS_ONLY = audit(
    topic="payments",
    outcome="cannot say",
    told="This material cannot say whether messages were lost: nobody's ledger tells which were acknowledged.",
    missing=(ask("number"), ask("went-back")),
)
"""Nothing to count from."""

MIXED = audit(
    """
    queue  sent  acked  failed  failed_stored  unanswered  stored  lost  doubled  start  end
    0      500   490    10      4              -           -       0     0        120    -
    1      -     -      -       -              -           510     0     7        -      510
    """,
    """
    group    queue  handled  times  committed  pending  lost  doubled  unknown
    billing  0      380      380    490        0        110   0        0
    billing  1      -        -      -          -        0     0        3
    audit    0      300      300    300        190      0     0        0
    """,
    topic=HOSTILE,
    losses=losses(
        """
        queue  incident        records  offsets  since  until  least  most
        0      retention-loss  110      10..119  10:00  10:01  100    120
        0      -               4        -        -      -      4      9
        """,
        topic=HOSTILE, side="group", group="billing",
    ),
    doubled=doubled(
        """
        queue  incident             records  extra  since  until
        1      producer-duplicates  6        7      10:02  10:03
        """,
        topic=HOSTILE, side="log", group=None,
    ),
    missing=("a dump of the log",),
)  # fmt: skip
"""Losses by group in an interval, doubles in the log, columns that are not told."""


def reign(queue, broker, since, until, *, epoch=1, isr="", high=None, unclean=False) -> Reign:
    """A broker that leads; the in-sync replicas are ``1,2,3``."""
    place = f"logs/kafka-{broker}/state-change.log:{epoch}"
    return Reign(queue, broker, epoch, at(since), at(until), tuple(filter(None, isr.split(","))), high, unclean, place)


def level(queue, broker, when, offset, what) -> Level:
    """The end of a replica's log."""
    return Level(queue, broker, at(when), offset, what, f"logs/kafka-{broker}/server.log:7")


def acked(since, until, first, last, *, lost=False) -> Acked:
    """Messages that were acknowledged."""
    return Acked(at(since), at(until), first, last, last - first + 1, lost, "clients/acked.csv:10")


A_FAILOVER = AuditView(
    FAILOVER,
    reigns=(
        reign("0", "2", "10:00", "10:04:40", epoch=1, isr="1,2,3"),
        reign("0", "1", "10:04:40", "10:10", epoch=2, isr="1,3", high=1030),
        reign("1", "3", "10:00", "10:10", epoch=1, isr="1,2,3"),
    ),
    in_sync=tuple(
        InSync(queue, broker, at(since), at(until))
        for queue, broker, since, until in (
            ("0", "1", "10:00", "10:10"), ("0", "2", "10:00", "10:04:40"), ("0", "2", "10:06", "10:10"),
            ("0", "3", "10:00", "10:10"), ("1", "1", "10:00", "10:10"), ("1", "3", "10:00", "10:10"),
        )
    ),
    levels=(
        level("0", "1", "10:04:40", 1032, LEADER),
        level("0", "3", "10:04:40", 1031, FOLLOWER),
        level("0", "2", "10:05:20", 2606, FOLLOWER),
        level("0", "2", "10:05:22", 1032, CUT),
    ),
    offsets=(
        Offsets(
            "0",
            acked=(
                acked("10:00", "10:04:32", 0, 1031), acked("10:04:32", "10:04:38", 1032, 2593, lost=True),
                acked("10:04:41", "10:04:55", 1032, 2593), acked("10:04:55", "10:07", 2594, 9439),
            ),
            ends=((at("10:03"), 700), (at("10:06"), 5200)),
            committed={"sink": ((at("10:03"), 690), (at("10:06"), 3000), (at("10:07"), 5035))},
        ),
        Offsets("1", acked=(acked("10:00", "10:07", 0, 10999),)),
    ),
)  # fmt: skip
"""FAILOVER by time."""
