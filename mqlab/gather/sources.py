"""What every capture may gather beside the broker's own answers, as options, and how it is run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from mqlab.errors import MqlabError
from mqlab.gather.bundle import Bundle
from mqlab.gather.files import Files
from mqlab.gather.outside import Journal, Pods
from mqlab.gather.prometheus import Prometheus, Scrapes
from mqlab.gather.schedule import Asking, Schedule, gather
from mqlab.gather.watching import Watch
from mqlab.gather.web import shown
from mqlab.units import counted, epoch, size
from mqlab.verbs.helping import shared

INTERRUPTED = 130
_HOUR = 3600.0
Command = TypeVar("Command", bound=Callable[..., Any])


def _moment(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    """The text, when it is a moment; nothing has begun yet."""
    epoch(text)
    return text


_SECONDS = click.FloatRange(min=1)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_shared = shared("Options of all captures")
_OPTIONS = (
    _shared("-o", "--output", required=True, type=click.Path(path_type=Path), help="A new folder, or X.tar.zst."),
    _shared("--interval", default=10.0, show_default=True, type=_SECONDS, help="Seconds between samplings."),
    _shared("--duration", default=50.0, show_default=True, type=click.FloatRange(min=0), help="Seconds; 0: once."),
    _shared("--since", callback=_moment, help="How far back logs and metrics are fetched (default: an hour)."),
    _shared("--prometheus", metavar="URL", help="Fetch what mqlab knows of from this Prometheus."),
    _shared("--match", default="", metavar="LABELS", help="Labels that its series must have: job='kafka'."),
    _shared("--metric", default="", metavar="REGEX", help="Fetch metrics of these names besides."),
    _shared("--step", default=15.0, show_default=True, type=_SECONDS, help="Seconds between its samples."),
    _shared("--token-file", type=_FILE, help="Holds the bearer token for Prometheus."),
    _shared("--scrape", multiple=True, metavar="URL", help="Read this exporter's page at every sampling."),
    _shared("--files", multiple=True, metavar="PATH", help="Copy a file, folder or glob in."),
    _shared("--limit", default=500, show_default=True, type=click.IntRange(min=1), help="MB of these, newest first."),
    _shared("--kubectl", multiple=True, metavar="NAMESPACE[/SELECTOR]", help="Fetch logs of these pods."),
    _shared("--journal", multiple=True, metavar="UNIT", help="Fetch the journal of this unit."),
    _shared("--watch", is_flag=True, help="Diagnose while it grows, and tell each new verdict."),
)


class NothingGatheredError(MqlabError):
    """Nothing that was asked gave an answer."""

    def __init__(self, place: Path) -> None:
        super().__init__(f"Nothing was gathered; what failed stands in {place} (manifest.json).")


def sources(command: Command) -> Command:
    """Options that every capture takes."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def said(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The options as the manifest shows them: no credentials, no empty ones."""
    plain = {key: [shown(one) for one in value] if isinstance(value, tuple) else value for key, value in asked.items()}
    plain["prometheus"] = shown(asked["prometheus"]) if asked["prometheus"] else None
    return {key: str(value) if isinstance(value, Path) else value for key, value in plain.items() if value}


def gathered(bundle: Bundle, broker: Asking, asked: Mapping[str, Any]) -> int:
    """Gather as the options of ``sources`` say, tell where it lies and what is missing in it; the exit code.

    Raises:
        NothingGatheredError: nothing answered.
    """
    asking, schedule = [broker, *_beside(bundle, asked)], Schedule(asked["interval"], asked["duration"])
    if asked["watch"]:
        with Watch(bundle, click.echo) as watch:
            place, interrupted = gather(bundle, [*asking, watch], schedule)
            if not interrupted and bundle.manifest.files:
                watch.conclude(place)
    else:
        place, interrupted = gather(bundle, asking, schedule)
    manifest = bundle.manifest
    for question in manifest.questions.values():
        if question.failed:
            times = "once" if question.failed == 1 else f"{question.failed} times"
            click.echo(f"mqlab: {question.what}, {times} in vain: {question.because}", err=True)
    if not manifest.files:
        raise NothingGatheredError(place)
    state = "interrupted, " if interrupted else ""
    click.echo(f"{place}: {state}{counted(manifest.files, 'file')}, {size(manifest.bytes)}; next: mqlab triage {place}")
    return INTERRUPTED if interrupted else 0


def _beside(bundle: Bundle, asked: Mapping[str, Any]) -> list[Asking]:
    since = epoch(asked["since"]) or time.time() - _HOUR
    asking: list[Asking] = []
    if asked["prometheus"]:
        token = asked["token_file"].read_text().strip() if asked["token_file"] else None
        asking.append(
            Prometheus(bundle, asked["prometheus"], since, asked["match"], asked["metric"], asked["step"], token)
        )
    if asked["scrape"]:
        asking.append(Scrapes(bundle, asked["scrape"]))
    if asked["files"]:
        asking.append(Files(bundle, asked["files"], since, asked["limit"] * 1_000_000))
    asking += [Pods(bundle, where, since) for where in asked["kubectl"]]
    asking += [Journal(bundle, unit, since) for unit in asked["journal"]]
    return asking
