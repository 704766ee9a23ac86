"""``mqlab what-if``: a recorded consumer group with other settings."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from mqlab.verbs.material import between, common, deliver, opened

SCHEMA = "mqlab.what-if/1"


@click.command("what-if")
@common
@click.option(
    "--set", "pairs", multiple=True, metavar="KEY=VALUE", help="max.poll.records=50, max.poll.interval.ms=60000, …"
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the result to this file.")
def whatif(pairs: tuple[str, ...], form: str, output: str | None, **material: Any) -> int:
    """Replay a Kafka consumer group from the material with other settings: rebalances, longest poll, lag.

    What can be set: max.poll.records, max.poll.interval.ms, session.timeout.ms, heartbeat.interval.ms,
    partition.assignment.strategy, group.protocol, group.initial.rebalance.delay.ms, threads (that share a poll),
    members, record.ms (time per record). Without --set it replays what was. --since and --until bound the replay; by
    default it is the incident: from the first late poll to the first change.
    """
    from mqlab.kafka.groups import chosen
    from mqlab.scenarios.replay import replay
    from mqlab.scenarios.replay_request import changes
    from mqlab.screens.groups import whatif_screen

    asked = changes(pairs)
    since, until = between(material.pop("since"), material.pop("until"))
    group = material.pop("group")
    capture, zone = opened(since=None, until=None, group=None, **material)
    if group is not None:
        chosen(capture.facts, group)
    found = replay(capture.facts, group, asked, since, until)
    if form == "json":
        told = {"schema": SCHEMA, **asdict(found), "feasible": found.fit_after.feasible}
        text = json.dumps(told, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    else:
        text = whatif_screen(found, zone)
    deliver(text, output)
    return 0
