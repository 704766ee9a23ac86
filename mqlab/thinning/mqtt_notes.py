"""What ledgers note about messages of MQTT: rows with keys, and what each ledger is to these messages.

A publisher may keep one ledger of what it sent and another one of what was acknowledged: both are one sender. Ledgers
of other systems, such as that of a Kafka consumer behind a bridge, join as receivers where most of their keys are ids
that ledgers of MQTT note, too.
"""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.sql import quoted
from mqlab.thinning.fates import SUCCESS

IDS = 0.9
"""Different keys for each row from which keys are ids of messages, as in ``ledger_topics``; copies that are flagged as
such and tries that failed have those of other rows."""
SHARED = 0.5
"""Share of its keys from which a ledger of another system is about these messages: fewer may be alike by chance."""
ROLES = "wall IS NOT NULL AND role IN ('sent', 'acked', 'failed', 'received', 'consumed', 'processed')"
DUP = "coalesce(lower(dup) IN ('true', '1'), false)"
RETAINED = "coalesce(retained = 'true', false)"
_HEARD = "CASE role WHEN 'received' THEN 1 WHEN 'consumed' THEN 2 WHEN 'processed' THEN 3"
_PASSED = f"{_HEARD} WHEN 'acked' THEN 4 WHEN 'sent' THEN 5 END"
"""Roles that show that a message came to a ledger, best first; what Kafka acknowledged has come to the bridge."""


def notes(rows: DataFrame, links: Collection[str], *, others: bool) -> DataFrame:
    """Rows of LEDGER with a key: those of MQTT (*links*), and where there are *others* those about the same messages.

    ``publishes`` is whether it is about the publisher's side, ``heard`` whether the ledger notes with it that the
    message came, ``sender`` whose ledger the publisher's is, ``own`` whether keys tell its messages apart, and
    ``promised`` whether the publisher notes acknowledgements.
    """
    own = mqtt(links)
    good = f"status IS NULL OR status RLIKE '{SUCCESS}'"
    told = rows.where(f"key IS NOT NULL AND {ROLES}").selectExpr(
        "source", "line", "role", "party", "key", "qos", "wall AS at", f"{own} AS mqtt",
        f"CASE WHEN {own} THEN nullif(topic, '') END AS topic",
        f"{own} AND role IN ('sent', 'acked', 'failed') AS publishes",
        f"role <> 'failed' AND ({good}) AS good",
        f"{DUP} OR {RETAINED} AS copied",
        f"role <> 'failed' AND (role = 'acked' OR status IS NOT NULL) AND ({good}) AS answered",
        f"role = 'failed' OR NOT ({good}) AS bad",
    )  # fmt: skip
    kept = told.where("mqtt") if not others else told.where("mqtt").unionByName(_downstream(told))
    return kept.join(F.broadcast(_ledgers(kept)), ["source", "role"])


def mqtt(links: Collection[str]) -> str:
    """True for rows of the ledgers *links*."""
    return f"source IN ({', '.join(quoted(link) for link in sorted(links))})"


def _downstream(told: DataFrame) -> DataFrame:
    """Rows of other systems' ledgers about messages of MQTT; ids that two publishers use tell nothing there."""
    ids = told.where("mqtt").groupBy("key").agg(
        F.expr("coalesce(min(topic) FILTER (WHERE publishes) = max(topic) FILTER (WHERE publishes), true) AS clear")
    )  # fmt: skip
    passed = told.where("NOT mqtt AND good AND role <> 'failed'")
    keys = passed.select("source", "key").distinct().join(ids, "key", "left")
    about = keys.groupBy("source").agg(F.expr("count_if(clear) AS shared"), F.expr("count(1) AS keys"))
    return passed.join(F.broadcast(about.where(f"shared > {SHARED} * keys").select("source")), "source", "left_semi")


def _ledgers(told: DataFrame) -> DataFrame:
    """One row for each source and role: own, heard, sender and promised."""
    counted = told.groupBy("source", "role", "mqtt").agg(
        F.expr("array_min(collect_set(party)) AS party"),
        F.expr("count_if(NOT copied AND NOT bad) AS messages"),
        F.expr("approx_count_distinct(struct(topic, key), 0.02) AS keys"),
    )
    ranked = counted.selectExpr(
        "*",
        f"CASE WHEN mqtt THEN {_HEARD} END ELSE {_PASSED} END AS rank",
        "coalesce(party, concat('?', source)) AS who",
    )
    sent, acked = (
        f"min(CASE WHEN mqtt AND role = '{role}' THEN source END) OVER (PARTITION BY who)" for role in ("sent", "acked")
    )
    return ranked.selectExpr(
        "source", "role", f"mqtt AND keys >= {IDS} * messages AS own",
        "coalesce(rank = min(rank) OVER (PARTITION BY source), false) AS heard",
        f"CASE role WHEN 'sent' THEN source WHEN 'acked' THEN coalesce({sent}, source) "
        f"WHEN 'failed' THEN coalesce({sent}, {acked}, source) END AS sender",
        f"{acked} IS NOT NULL AS promised",
    )  # fmt: skip
