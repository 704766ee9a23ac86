"""From the rows that leave Spark to Facts: clocks settled, names canonical, everything sorted."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.assembly import (
    clocks,
    coverage,
    episodes,
    exported_positions,
    flows,
    groups,
    messages,
    metrics,
    positions,
    settings,
    volumes,
)
from mqlab.assembly.clocks import minute
from mqlab.assembly.gathered import Gathered
from mqlab.clocks import offsets, zones
from mqlab.facts import Facts
from mqlab.mqtt import doubled_logs


def assemble(gathered: Gathered, wanted: Sequence[tuple[str, str]] = ()) -> Facts:
    """Facts in UTC; *wanted* are the user's (glob, zone) pairs."""
    rows, paths, path = gathered.rows, gathered.paths, gathered.path
    settled = clocks.settled(rows, gathered.sources, wanted)
    instant = zones.instants(settled)
    series = metrics.series(rows["metrics"], path, instant)
    quoted = {(row["source"], row["line"]): row["text"] for row in rows["quoted"]}
    facts = Facts(
        episodes=episodes.episodes(rows["events"], path, instant),
        series=series,
        settings=tuple(settings.settings(rows["settings"], path, instant)),
        positions=(*positions.positions(rows["positions"], path, instant), *exported_positions.positions(series)),
        clients=tuple(groups.clients(rows["clients"], path, instant)),
        assignments=tuple(groups.assignments(rows["assignments"], path, instant)),
        tallies=tuple(groups.tallies(rows["tallies"], path)),
        batches=tuple(groups.batches(rows["batches"], groups.lone_names(rows), path, instant)),
        deliveries=tuple(groups.deliveries(rows["deliveries"], paths)),
        fates=tuple(messages.fates(rows["fates"], paths, quoted)),
        parts=tuple(messages.parts(rows["parts"], paths, quoted)),
        flows=tuple(flows.flows(rows["flows"], paths, quoted)),
        topic_flows=tuple(flows.topic_flows(rows["topic_flows"], paths, quoted)),
        receipts=tuple(flows.receipts(rows["receipts"], paths, quoted)),
        passages=tuple(flows.passages(rows["passages"], paths)),
        shapes=tuple(coverage.shapes(gathered, instant)),
        rejects=tuple(coverage.rejects(gathered)),
        coverage=tuple(coverage.coverage(gathered, settled, instant)),
        volumes=tuple(volumes.volumes(rows["log"], rows["quoted"], path, instant, minute)),
    )
    return offsets.corrected(doubled_logs.once(messages.titled(facts)))
