"""The command line: results on standard output, progress and warnings on standard error.

Exit codes: 64 bad usage or nothing readable, 70 internal error, 130 interrupted, 143 terminated; with ``--exit-code``
0 for nothing above notice, 1 for a warning, 2 for something critical.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, cast

import click

from mqlab import __version__
from mqlab.endings import process, told, watch
from mqlab.errors import MissingExtraError, extras
from mqlab.terminal import visible
from mqlab.verbs.completing import classes, completion, names
from mqlab.verbs.groups import drain, rebalances, whatif
from mqlab.verbs.helping import WIDEST, Verbs
from mqlab.verbs.listing import checklist, formats, incidents
from mqlab.verbs.material import common, deliver, extend, language, opened, progress, with_plugins, written
from mqlab.verbs.session import session

LATER = {
    "capture": (
        "mqlab.gather.commands",
        "Collect data from running brokers for triage; read-only.",
    ),
    "compare": (
        "mqlab.verbs.comparing",
        "Compare two captures: the same incident, repaired, what differs.",
    ),
    "demo": ("mqlab.verbs.demo", "Triage a bundled sample and write its report."),
    "history": (
        "mqlab.verbs.comparing",
        "List all incidents of a folder: cause, cost, what came back.",
    ),
    "lab": (
        "mqlab.lab.verb",
        "Start real brokers here and cause incidents on purpose.",
    ),
    "notebook": ("mqlab.verbs.notebook", "List the notebooks, copy one, or open one for your material."),
    "plugin": (
        "mqlab.plugin_check.verb",
        "Create and test a plug-in: formats, rules, known errors.",
    ),
    "redact": (
        "mqlab.gather.redact_command",
        "Write a copy to share: no names, payloads or secrets.",
    ),
    "train": (
        "mqlab.training.verb",
        "Learn on real incidents: exercises, checked answers, debriefs.",
    ),
}
"""Verbs around the analysis, by module and with what they are for: imported when they are asked for, so that nothing
else depends on them, and neither help nor completion waits for them."""


_UNHURRIED = ("capture", "lab")
"""Verbs that end a bundle or stop brokers after a signal, which takes the time that it takes."""


class _Verbs(Verbs):
    headings: ClassVar = {
        "Answer": ("triage", "show", "audit", "rebalances", "drain", "what-if", "compare"),
        "Report": ("report", "history", "notebook"),
        "Collect": ("capture", "checklist", "redact"),
        "Learn": ("demo", "train", "lab"),
        "Look up": ("explain", "incidents", "formats"),
        "Set up": ("doctor", "session", "completion", "plugin"),
    }

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *LATER])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in LATER:
            return super().get_command(ctx, cmd_name)
        watch.hurries = cmd_name not in _UNHURRIED
        completes = [MissingExtraError] if ctx.resilient_parsing else []
        with suppress(*completes), extras(f"mqlab {cmd_name}"):
            return cast("click.Command", getattr(import_module(LATER[cmd_name][0]), cmd_name))
        return None

    def sentence(self, ctx: click.Context, name: str) -> str:
        return LATER[name][1] if name in LATER else super().sentence(ctx, name)


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST})
@click.version_option(__version__, prog_name="mqlab")
def commands() -> None:
    """Diagnose a message-broker incident from its logs, metrics and command output, with evidence."""


_KEPT = ("plugins", "since", "until", "group", "topic", "client", "log_tz", "ledger")
"""Options that decide what is found: commands that lead on need them too."""


def _narrowing(material: Mapping[str, Any]) -> Iterator[str]:
    for name in _KEPT:
        given = material.get(name) or ()
        for value in (given,) if isinstance(given, str) else given:
            yield from (f"--{name.replace('_', '-')}", value)


@commands.command()
@common
@written
@click.option(
    "--why", is_flag=True, help="Also list each class that could not be checked, with the commands that help."
)
@click.option("--exit-code", is_flag=True, help="Exit with 1 for a warning, 2 for a critical finding.")
def triage(form: str, output: str | None, why: bool, exit_code: bool, **material: Any) -> int:
    """Print one screen: what happened, what proves it, what to do."""
    from mqlab import jsonout, screen
    from mqlab.delivery.audit import audits
    from mqlab.screens import paste, rows

    capture, zone = opened(**material)
    if form == "json":
        text = jsonout.dumps(capture.diagnosis)
    elif paste.is_paste(capture.facts) and not why:
        text = paste.paste_screen(capture.facts, capture.diagnosis, zone)
    else:
        paths = [*material["paths"], *_narrowing(material)]
        text = screen.screen(capture.diagnosis, paths, zone, audits=audits(capture.facts), why=why)
    deliver(text, output, str if form == "json" else rows.coloured)
    return screen.exit_code(capture.diagnosis) if exit_code else 0


@commands.command()
@common
@written
@click.option("--exit-code", is_flag=True, help="Exit with 2 if messages were lost or duplicated, 1 if it is unknown.")
def audit(form: str, output: str | None, exit_code: bool, **material: Any) -> int:
    """Count messages: sent, stored, handled, lost, duplicated.

    For each Kafka topic and for MQTT, with acknowledged messages.
    """
    from mqlab.delivery.audit import audits
    from mqlab.delivery.risks import risks
    from mqlab.mqtt.chain import ways
    from mqlab.screens import audit as screen_audit
    from mqlab.screens import rows
    from mqlab.views import audit_json as jsonout
    from mqlab.views.audit_json import nothing

    capture, zone = opened(**material)
    found, because = audits(capture.facts), nothing(capture.facts, material["topic"])
    over = capture.diagnosis.chains if ways(capture.facts) else ()  # with what findings count as lost
    if form == "json":
        text = jsonout.dumps(found, because, risks(capture.facts), over)
    else:
        text = screen_audit.audit_screen(found, zone, because, risks(capture.facts), over)
    deliver(text, output, str if form == "json" else rows.coloured)
    return screen_audit.audit_exit_code(found, over) if exit_code else 0


@commands.command()
@common
@click.option(
    "-o",
    "--output",
    show_default="report.html",
    type=click.Path(dir_okay=False),
    help="The file to write: .html, .md, or .pdf (needs Chromium on this machine).",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "md"]),
    help="Use md for a ticket or a chat (default: by the name of the output).",
)
@click.option(
    "--short",
    is_flag=True,
    help="A small page for mail, two pages when printed; Markdown: eight lines. Runs no notebook.",
)
@click.option(
    "--template",
    metavar="NAME|PATH",
    default="default",
    show_default=True,
    help="default, short, or your own Jinja file: see docs/templates.md.",
)
@click.option("--exit-code", is_flag=True, help="Exit with 1 for a warning, 2 for a critical finding.")
def report(output: str | None, form: str | None, short: bool, template: str, exit_code: bool, **material: Any) -> int:
    """Write the postmortem as one HTML file, Markdown or PDF.

    Also writes the findings to NAME.findings.json.
    """
    from mqlab import screen
    from mqlab.languages import said
    from mqlab.reporting import pages, printing
    from mqlab.writing import findings_beside, is_markdown, refuse_foreign

    chosen = pages.SHORT if short else template
    out = Path(output or f"report.{form or 'html'}")
    as_markdown = form == "md" or (form is None and is_markdown(out))
    pages.check(chosen)
    if not as_markdown:
        printing.check(out)
    refuse_foreign(out, findings_beside(out))
    capture, _ = opened(**material)
    with progress() as tell:
        tell("writing the report" if as_markdown else "running the notebooks")
        from mqlab.headline import headline
        from mqlab.report import render, render_markdown

        if as_markdown:
            written = render_markdown(capture, out, short=chosen == pages.SHORT)
        else:
            written = render(capture, out, template=chosen)
    click.echo(said(headline(capture.diagnosis, capture.notes)))
    click.echo(f"{capture.diagnosis.verdict.incident}: {said(capture.diagnosis.verdict.statement)}")
    click.echo(f"{written} ({written.stat().st_size / 1e6:.1f} MB), {findings_beside(written)}")
    return screen.exit_code(capture.diagnosis) if exit_code else 0


@commands.command()
@click.argument("finding", shell_complete=classes)
@common
@click.option("--lines", default=5, show_default=True, help="Lines of context around each line of evidence.")
def show(finding: str, lines: int, **material: Any) -> int:
    """Show the evidence of one finding with the lines around it.

    FINDING is its id, its class, or F1, F2 … in the order of the diagnosis.
    """
    capture, _ = opened(**material)
    deliver(capture.show(finding, lines), None)
    return 0


@commands.command()
@click.argument("what", shell_complete=names)
@language
@with_plugins
def explain(what: str, plugins: tuple[str, ...]) -> int:
    """Explain a class of incident, a known error or a line of a log.

    WHAT is a name, or the line in quotes.
    """
    extend(plugins)
    from mqlab.languages import pages
    from mqlab.screens.listings import page
    from mqlab.verbs.explaining import explained

    text = visible(pages.markdown(explained(what)))
    deliver(page(text), None, lambda _: page(text, colour=True))
    return 0


@commands.command()
@click.option("--quiet", is_flag=True, help="Print nothing if everything is in order.")
@click.option("--workspace", help="Cache folder to check.")
@click.option(
    "--prepare", is_flag=True, help="First prepare Java for a faster start; needed once for each Java and Spark."
)
@click.option("--master", help="Check a worker of this Spark master.")
@click.option("--remote", help="Check a worker of this Spark Connect server.")
def doctor(quiet: bool, workspace: str | None, prepare: bool, master: str | None, remote: str | None) -> int:
    """Check Java, memory and the cache, or the workers of a cluster.

    With --master or --remote, checks that workers have what mqlab needs.
    """
    from mqlab.cache.workspace import cache_folder
    from mqlab.spark.jvm import java, sharing

    found, cache = java(), cache_folder(workspace)
    if prepare:
        from mqlab.spark import doctor as archives

        with progress() as tell:
            tell("preparing Java's start")
            archives.prepare()
    if not quiet:
        size = sum(f.stat().st_size for f in cache.rglob("*") if f.is_file())
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
        start = "starts fast" if sharing(found) else "`mqlab doctor --prepare` makes it start faster"
        click.echo(
            f"java    {found.command} ({found.major}; {start})\nmemory  {memory:.1f} GB, {os.cpu_count()} cores\n"
            f"cache   {cache} ({size / 1e6:.0f} MB)"
        )
    if master or remote:
        from mqlab.spark.doctor import asked

        click.echo(f"worker  {asked(master, remote)}")
    return 0


for verb in (checklist, completion, drain, formats, incidents, rebalances, session, whatif):
    commands.add_command(verb)


def run() -> int:
    """Run the command line; the exit code that its verb gives."""
    return commands.main(prog_name="mqlab", standalone_mode=False) or 0


def main() -> None:
    """Run the command line within a process that does other things too, and exit with its code."""
    try:
        code = run()
    except BaseException as error:
        code = told(error)
    sys.exit(code)


if __name__ == "__main__":
    process(run)
