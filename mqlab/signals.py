"""From canonical tables to what becomes Facts: the last thing that Spark does.

Every table is thinned where it is large and left as it is where it is small:

* EVENTS: one row per kind, actor and ten seconds, with count, extrema, first and last line; of the lives of consumer
  groups and of replicas every line (``episodes.EXACT``); polls that were worked off are summed by themselves
  (``polls``);
* SETTINGS: a value that repeats the one printed before it is dropped;
* METRICS: one row a series, only series that mqlab knows by name;
* LEDGER: counts per queue and ten seconds, and what became of messages, as runs of those of which the same is told
  (``ledgers``, ``fates``);
* VOLUME: one row per source, level and shape; how each log grew, minute by minute (``volumes``).

It leaves Spark in one action, and what is told of messages in another, as rows of (fact, payload), payload being
JSON. Moments of log lines are still on the line's own clock, as in ``canonical``.
"""

from __future__ import annotations

from types import MappingProxyType

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.canonical import Layouts, has_logs, log_rows, raw_tables
from mqlab.loaders import LOADERS, batch_lines
from mqlab.loaders.base import LaidOut
from mqlab.loaders.logs import beginning
from mqlab.tables import ASSIGNMENTS, CLIENTS, EVENTS, LEDGER, METRICS, POSITIONS, SETTINGS, union
from mqlab.thinning import coverage, episodes, ledgers, polls, series, settings, shapes, volumes

_LEDGERS = frozenset(loader.FORMAT for loader in LOADERS if loader.TABLES == (LEDGER,))
"""Formats of ledgers and dumps: their rows are many, and are followed by messages in a second step."""
_DUMPS = frozenset(loader.FORMAT for loader in LOADERS if loader.FORMAT in _LEDGERS and not isinstance(loader, LaidOut))


def facts(rows: DataFrame, formats: frozenset[str]) -> DataFrame:
    """(fact, payload) rows from the tagged *rows*: everything the detectors may look at but messages."""
    tables = raw_tables(rows, formats - _LEDGERS)
    makers = {
        EVENTS: episodes.episodes,
        SETTINGS: settings.changed,
        POSITIONS: _as_it_is,
        METRICS: series.series,
        CLIENTS: _as_it_is,
        ASSIGNMENTS: _as_it_is,
    }
    parts = [_payload(table.name, makers[table](tables[table])) for table in makers if table in tables]
    parts += [_payload("coverage", coverage.coverage(rows, formats)), _payload("volume", shapes.shapes(rows))]
    if has_logs(formats):
        parts += [
            _payload("batches", polls.batches(batch_lines.batches(beginning(log_rows(rows), batch_lines.KIND)))),
            _payload("log", volumes.volumes(rows)),
        ]
    return union(parts)


def messages(rows: DataFrame, formats: frozenset[str], ledgers_as: Layouts = MappingProxyType({})) -> DataFrame | None:
    """(fact, payload) rows about single messages, where there are ledgers or dumps; runs Spark once to parse them."""
    tables = raw_tables(rows, formats & _LEDGERS, ledgers_as)
    if LEDGER not in tables:
        return None
    known = ledgers.Known.of(ledgers_as)
    others = len(known.mqtt) < len(ledgers_as) or not formats.isdisjoint(_DUMPS)
    thinned = ledgers.thinned(tables[LEDGER], known, others=others)
    return union([_payload(fact, frame) for fact, frame in thinned.items()])


def _as_it_is(frame: DataFrame) -> DataFrame:
    return frame.withColumn("wall", F.expr("unix_micros(wall)"))


def _payload(fact: str, frame: DataFrame) -> DataFrame:
    return frame.selectExpr(f"'{fact}' AS fact", "to_json(struct(*)) AS payload")
