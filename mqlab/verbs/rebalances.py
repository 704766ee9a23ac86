"""``mqlab rebalances``: every rebalance of the Kafka groups in the material, what began it and what it cost."""

from __future__ import annotations

from typing import Any

import click

from mqlab.verbs.material import common, deliver, opened


@click.command()
@common
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the result to this file.")
def rebalances(form: str, output: str | None, **material: Any) -> int:
    """List the rebalances of Kafka's consumer groups: trigger, what is behind it, standstill, delayed and repeated."""
    from mqlab.kafka.groups import chosen
    from mqlab.kafka.rebalances import history
    from mqlab.screens.groups import rebalances_screen
    from mqlab.views.rebalances_json import dumps

    wanted = material.pop("group")
    capture, zone = opened(group=None, **material)
    histories = [(group, history(capture.facts, group)) for group in chosen(capture.facts, wanted)]
    deliver(dumps(histories) if form == "json" else rebalances_screen(histories, zone), output)
    return 0
