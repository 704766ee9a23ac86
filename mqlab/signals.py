"""From canonical tables to what becomes Facts: the last thing that Spark does.

Every table is thinned where it is large and left as it is where it is small:

* EVENTS: one row per kind, actor and ten seconds, with count, extrema, first and last line; of the lives of consumer
  groups and of replicas every line (``episodes.EXACT``); polls that were worked off are summed by themselves
  (``polls``);
* SETTINGS: a value that repeats the one printed before it is dropped;
* METRICS: one row a series, only series that mqlab knows by name;
* LEDGER: counts per queue and ten seconds, and what became of messages, as runs of those of which the same is told
  (``ledgers``, ``fates``);
* counts of lines: one row per source, level and shape; how each log grew, minute by minute (``volumes``).

It leaves Spark as rows of (fact, payload), payload being JSON. Moments of log lines are still on the line's own clock,
as in ``canonical``. All of it but messages is about one source each and was worked out where the source was read
(``kernel.thin``), unless that was cut into splits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mqlab.formats.registry import BY_NAME
from mqlab.kernel import job
from mqlab.kernel.output import FACTS
from mqlab.material.copies import holders
from mqlab.sources import Source
from mqlab.tables import LEDGER
from mqlab.thinning.ledgers import Known

if TYPE_CHECKING:
    from mqlab.canonical import Stored

Facts = list[tuple[str, str]]
_OWN = "mqlab"
_WITH_LOGS = {"kafka", "rocketmq"}
"""Software that keeps messages in logs, so that its ledgers may note places in them."""


def facts(stored: Stored, earlier: Stored) -> Facts:
    """(fact, payload) rows of sources that were read whole in *earlier* runs, and of those that were cut; no messages.

    *stored* has the rows of all sources. What was read whole just now is known already.
    """
    kept = earlier.files.get(FACTS.name, ())
    told = job.kept(stored.spark, kept, earlier.sources) if kept else []
    return told + (job.thin_cut(stored.spark, stored.files, sorted(stored.cut)) if stored.cut else [])


def messages(stored: Stored, sources: Sequence[Source], *, dumps: bool) -> Facts:
    """(fact, payload) rows about single messages, where there are ledgers among the *sources*, or *dumps*."""
    if LEDGER.name not in stored.files:
        return []
    layouts = {source.link: source.layout for source in sources if source.layout}
    products = {BY_NAME[one.format].FORMAT.software for one in sources if one.format in BY_NAME} - {"", _OWN}
    known = Known.of(layouts, holders(sources), only_mqtt=bool(products) and not products & _WITH_LOGS)
    others = len(known.mqtt) < len(layouts) or dumps
    return job.follow(stored.spark, stored.files[LEDGER.name], stored.sources, known, others=others)
