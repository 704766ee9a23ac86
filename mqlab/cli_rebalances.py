"""``mqlab rebalances``: every rebalance of the Kafka groups in the material, what began it and what it cost."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from mqlab.cli_material import common, deliver, opened

SCHEMA = "mqlab.rebalances/1"


@click.command()
@common
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the result to this file.")
def rebalances(form: str, output: str | None, **material: Any) -> int:
    """List the rebalances of Kafka's consumer groups: trigger, what is behind it, standstill, delayed and repeated."""
    from mqlab.kafka_groups import groups
    from mqlab.rebalances import history
    from mqlab.screen_rebalances import rebalances_screen

    capture, zone = opened(**material)
    chosen = [group for group in groups(capture.facts) if material["group"] in (None, group)]
    histories = [(group, history(capture.facts, group)) for group in chosen]
    if form == "json":
        told = [{"group": group, "rebalances": [asdict(row) for row in rows]} for group, rows in histories]
        text = json.dumps({"schema": SCHEMA, "groups": told}, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    else:
        text = rebalances_screen(histories, zone)
    deliver(text, output)
    return 0
