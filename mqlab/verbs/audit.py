"""``mqlab audit``: how many messages were lost or doubled, where, and by which mechanism: of Kafka and over MQTT."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from mqlab.verbs.material import common, deliver, opened


@click.command()
@common
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the result to this file.")
@click.option(
    "--exit-code", is_flag=True, help="Exit with 2 where something was lost or doubled, 1 where nobody knows."
)
def audit(form: str, output: str | None, exit_code: bool, **material: Any) -> int:
    """Count the messages of each Kafka topic and of MQTT: sent, acknowledged, stored, handled, lost, doubled."""
    from mqlab.delivery.audit import audits
    from mqlab.delivery.risks import risks
    from mqlab.mqtt.chain import ways
    from mqlab.screens import audit as screen_audit
    from mqlab.screens import rows
    from mqlab.views import audit_json as jsonout
    from mqlab.views.audit_json import nothing

    capture, zone = opened(**material)
    found, because = audits(capture.facts), nothing(capture.facts, material["topic"])
    over = ways(capture.facts)
    if form == "json":
        text = jsonout.dumps(found, because, risks(capture.facts), over)
    else:
        text = screen_audit.audit_screen(found, zone, because, risks(capture.facts), over)
        if not output and sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
            text = rows.coloured(text)
    deliver(text, output)
    return screen_audit.audit_exit_code(found, over) if exit_code else 0
