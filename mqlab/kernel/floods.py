"""A flood of lines that are kept: some of each kind are, the last of them stands for all others.

A client that logs an error a thousand times a second would otherwise have its whole log kept and looked at line by
line. Of the lines of one shape and ten seconds (the length of an episode) in a piece of the file, the first ``MOST``
stay as they are; the last one carries the lines of the rest. Counts, first and last moment stay exact, extrema of
values are those of the lines that stay. Lines without a moment, such as those of an exception, follow dated ones that
were counted: those beyond the first ``MOST`` are counted by shape like any other line. A broker's line for each
message is alike only where client, topic and flags are the same, so that their counts stay exact too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mqlab.formats import own_lines
from mqlab.kernel.vectors import Longs

if TYPE_CHECKING:
    from mqlab.kernel.logs import Batch

MOST = 100
"""Lines of one shape and ten seconds that are kept."""
TRACED = 1
"""Lines about one topic, client and ten seconds that are kept of those that mosquitto writes for each message."""
_SECONDS = 10
_FROM, _ALIKE = 19, 160
"""Where a line's message has begun in every layout, and how many bytes of it are compared."""
_TRACE = own_lines.TRACE.replace(r"\d", "[0-9]")
_VARIES = own_lines.VARIES.replace(r"\d", "[0-9]")


@dataclass(frozen=True)
class Candidates:
    """Lines that may be kept, by their places in the batch."""

    places: Longs
    weights: Mapping[int, int] = field(default_factory=dict)
    """How many lines one stands for, where that is not itself alone."""
    spared: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """Those lines."""


def bounded(batch: Batch, candidates: Candidates) -> Candidates:
    """The *candidates* without the rest of each flood."""
    places = candidates.places
    texts = batch.texts.gather(places)
    near = batch.inner.near(_ALIKE, _FROM, places).str.replace_all("[0-9]+", "#")
    frame = pl.DataFrame({"place": places, "text": texts, "near": near, "second": batch.headers.second[places]})
    trace = pl.col("text").str.contains(_TRACE)
    alike = frame.select(
        "place",
        pl.when(trace)
        .then(pl.col("text").str.slice(12).str.replace_all(_VARIES, "#"))
        .otherwise("near")
        .alias("alike"),
        (pl.col("second") // _SECONDS).alias("bucket"),
        (pl.col("second") >= 0).alias("dated"),
        pl.when(trace).then(TRACED).otherwise(MOST).alias("most"),
    )
    ranked = alike.with_columns(pl.int_range(pl.len()).over("alike", "bucket").alias("rank"))
    flood = ranked.filter(pl.col("rank") >= pl.col("most"))
    rest = flood.filter("dated").group_by("alike", "bucket").agg(pl.col("place"))
    spared = {places[-1]: places[:-1] for places in rest["place"].to_list()}
    gone = np.setdiff1d(flood["place"].to_numpy(), np.fromiter(spared, np.int64, len(spared)))
    weights = {last: len(others) + 1 for last, others in spared.items()}
    return Candidates(np.setdiff1d(places, gone), weights, spared)
