"""``mqlab demo``: a bundled sample on the screen and as a report, for those who have no material at hand."""

from __future__ import annotations

from pathlib import Path

import click

from mqlab.bundled import samples
from mqlab.languages import said
from mqlab.spark import early
from mqlab.verbs.helping import Verb
from mqlab.verbs.material import deliver, language, progress
from mqlab.words import room
from mqlab.writing import findings_beside, refuse_foreign

say = room("verbs")

_SAMPLE = "kafka-amp-17"


def _names() -> list[str]:
    return sorted(folder.name for folder in samples().iterdir() if folder.is_dir())


@click.command(cls=Verb)
@click.option(
    "--sample",
    default=_SAMPLE,
    show_default=True,
    metavar="NAME",
    type=click.Choice(_names()),
    help="Use another sample.",
)
@click.option(
    "-o",
    "--output",
    default="mqlab-demo.html",
    show_default=True,
    type=click.Path(dir_okay=False),
    help="The report to write; a file that mqlab did not write is not overwritten.",
)
@language
def demo(sample: str, output: str) -> int:
    """Triage a bundled sample and write its report.

    The sample was captured from real brokers while an incident was caused on purpose.
    """
    from mqlab.reporting import printing

    material, out = str(samples() / sample), Path(output)
    refuse_foreign(out, findings_beside(out))
    printing.check(out)
    early.begin((material,), {"master": None})
    from mqlab.capture import open_capture
    from mqlab.delivery.audit import audits
    from mqlab.report import render
    from mqlab.screen import screen
    from mqlab.screens import rows

    with progress() as tell:
        capture = open_capture(material, progress=tell)
    deliver(screen(capture.diagnosis, [material], audits=audits(capture.facts)), None, rows.coloured)
    with progress() as tell:
        tell("running the notebooks")
        written = render(capture, out)
    click.echo(f"\n{said(say('report', page=str(written), findings=str(findings_beside(written))))}")
    click.echo(said(say("own-material")))
    return 0
