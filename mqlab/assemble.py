"""From the rows that leave Spark to Facts: clocks settled, names canonical, everything sorted."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.assembly import logs, messages
from mqlab.assembly import rows as assembly_rows
from mqlab.assembly.rows import Gathered
from mqlab.clocks import offsets, settling, zones
from mqlab.facts import Facts
from mqlab.mqtt import brokers as mqtt_brokers


def assemble(gathered: Gathered, wanted: Sequence[tuple[str, str]] = ()) -> Facts:
    """Facts in UTC; *wanted* are the user's (glob, zone) pairs."""
    rows, paths, path = gathered.rows, gathered.paths, gathered.path
    settled = settling.settled(rows, gathered.sources, wanted)
    instant = zones.instants(settled)
    instant = zones.bounded(instant, {paths[link] for link in gathered.dateless}, gathered.dated(instant))
    series = assembly_rows.series(rows["metrics"], path, instant)
    quoted = {(row["source"], row["line"]): row["text"] for row in rows["quoted"]}
    facts = Facts(
        episodes=assembly_rows.episodes(rows["events"], path, instant),
        series=series,
        settings=tuple(assembly_rows.settings(rows["settings"], path, instant)),
        positions=(
            *assembly_rows.positions(rows["positions"], path, instant),
            *assembly_rows.exported_positions(series),
        ),
        clients=tuple(messages.clients(rows["clients"], path, instant)),
        assignments=tuple(messages.assignments(rows["assignments"], path, instant)),
        tallies=tuple(messages.tallies(rows["tallies"], path)),
        batches=tuple(messages.batches(rows["batches"], messages.lone_names(rows), path, instant)),
        deliveries=tuple(messages.deliveries(rows["deliveries"], paths)),
        fates=tuple(messages.fates(rows["fates"], paths, quoted)),
        parts=tuple(messages.parts(rows["parts"], paths, quoted)),
        flows=tuple(messages.flows(rows["flows"], paths, quoted)),
        topic_flows=tuple(messages.topic_flows(rows["topic_flows"], paths, quoted)),
        receipts=tuple(messages.receipts(rows["receipts"], paths, quoted)),
        passages=tuple(messages.passages(rows["passages"], paths)),
        shapes=tuple(logs.shapes(gathered, instant)),
        rejects=tuple(logs.rejects(gathered)),
        coverage=tuple(logs.coverage(gathered, settled, instant)),
        volumes=tuple(logs.volumes(rows["log"], rows["quoted"], path, instant)),
    )
    return offsets.corrected(mqtt_brokers.once(messages.placed(messages.titled(facts))))
