"""What every capture may gather beside the broker's own answers, as options, and how it is run."""

from __future__ import annotations

import shlex
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeVar

import click

from mqlab.errors import MqlabError
from mqlab.gather.bundle import Bundle, IncompleteError
from mqlab.gather.files import Files
from mqlab.gather.manifest import Manifest
from mqlab.gather.outside import Journal, Pods
from mqlab.gather.prometheus import Prometheus, Scrapes
from mqlab.gather.schedule import Asking, Schedule, Stopped, gather, undisturbed
from mqlab.gather.watching import Watch
from mqlab.gather.web import check, shown
from mqlab.units import counted, epoch, size
from mqlab.verbs.helping import shared

_NO_ADDRESS = "give http://HOST:PORT or https://HOST:PORT; write / ? # and @ of a password as %2F %3F %23 %40."
_HOUR = 3600.0
Command = TypeVar("Command", bound=Callable[..., Any])


def _moment(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    """The text, when it is a moment; nothing has begun yet."""
    epoch(text)
    return text


def secret(file: Path | None) -> str | None:
    """The password or token in a file; None where none is given.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return file.read_text("utf-8").strip() if file else None
    except (OSError, ValueError) as error:
        raise click.UsageError(
            f"{file} cannot be read: {getattr(error, 'strerror', None) or 'it is not a text file'}."
        ) from error


def address(context: click.Context, parameter: click.Parameter, told: Any) -> Any:
    """The addresses, when they are some; what is none is not repeated, since a password may stand in it.

    Raises:
        BadParameter: one of them is none.
    """
    for url in (told,) if isinstance(told, str) else told or ():
        try:
            check(url)
        except ValueError as error:
            raise click.BadParameter(_NO_ADDRESS, context, parameter) from error
    return told


def place(context: click.Context, parameter: click.Parameter, told: str | None) -> str | None:
    """The brokers to begin with, when no user or password stands beside them: they would stand in the manifest.

    Raises:
        BadParameter: one does, or it is an address of another kind.
    """
    if told and "@" in told:
        raise click.BadParameter("give HOST:PORT only, without user and password.", context, parameter)
    return told


_SECONDS = click.FloatRange(min=1)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_shared = shared("Options of all captures")
_OPTIONS = (
    _shared(
        "-o",
        "--output",
        required=True,
        type=click.Path(path_type=Path),
        help="A new folder, or an archive: X.tar.zst, X.tar.gz.",
    ),
    _shared("--interval", default=10.0, show_default=True, type=_SECONDS, help="Seconds between samplings."),
    _shared("--duration", default=50.0, show_default=True, type=click.FloatRange(min=0), help="Seconds; 0: once."),
    _shared("--since", callback=_moment, help="Fetch logs and metrics from this moment on (default: one hour ago)."),
    _shared(
        "--prometheus", metavar="URL", callback=address, help="Fetch the series that mqlab knows from this Prometheus."
    ),
    _shared("--match", default="", metavar="LABELS", help="Labels that its series must have: job='kafka'."),
    _shared("--metric", default="", metavar="REGEX", help="Also fetch metrics with these names."),
    _shared("--step", default=15.0, show_default=True, type=_SECONDS, help="Seconds between its samples."),
    _shared("--token-file", type=_FILE, help="File with the bearer token for Prometheus."),
    _shared(
        "--scrape", multiple=True, metavar="URL", callback=address, help="Read this exporter's page at every sampling."
    ),
    _shared("--files", multiple=True, metavar="PATH", help="Copy a file, folder or glob into the bundle."),
    _shared(
        "--limit", default=500, show_default=True, type=click.IntRange(min=1), help="MB of files at most, newest first."
    ),
    _shared("--kubectl", multiple=True, metavar="NAMESPACE[/SELECTOR]", help="Fetch logs of these pods."),
    _shared("--journal", multiple=True, metavar="UNIT", help="Fetch the journal of this unit."),
    _shared("--watch", is_flag=True, help="Diagnose during the capture, and print each new verdict."),
)


class NothingGatheredError(MqlabError):
    """Nothing that was asked gave an answer."""

    def __init__(self, place: Path) -> None:
        super().__init__(f"Nothing was collected; {place} (manifest.json) lists what failed.")


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


def gathered(bundle: Bundle, brokers: Sequence[Asking], asked: Mapping[str, Any]) -> int:
    """Gather as the options of ``sources`` say, tell where it lies and what is missing in it; the exit code.

    Raises:
        NothingGatheredError: nothing answered.
        IncompleteError, NotPackedError: the bundle cannot be written any more.
    """
    asking, schedule = [*brokers, *_beside(bundle, asked)], Schedule(asked["interval"], asked["duration"])
    watching = Watch(bundle, click.echo) if asked["watch"] else nullcontext()
    with watching as watch:
        place, code = _ended(bundle, asking, schedule, watch)
        if watch and not code and bundle.manifest.files:
            watch.conclude(place)
    return _told(bundle.manifest, place, code)


def _ended(bundle: Bundle, asking: Sequence[Asking], schedule: Schedule, watch: Watch | None) -> tuple[Path, int]:
    """Where the bundle lies when it is over, and the exit code of what ended it."""
    code, state, because = 0, "complete", None
    try:
        gather(bundle, asking, schedule, watch)
    except Stopped as stop:
        code, state, because = 128 + stop.number, "interrupted", signal.Signals(stop.number).name
    except IncompleteError as error:
        with undisturbed():
            place = bundle.close("incomplete", error.because)
        raise IncompleteError(place, error.because) from error
    with undisturbed():
        return bundle.close("empty" if state == "complete" and not bundle.manifest.files else state, because), code


def _told(manifest: Manifest, place: Path, code: int) -> int:
    for question in manifest.questions.values():
        if question.failed:
            times = "once" if question.failed == 1 else f"{question.failed} times"
            click.echo(f"mqlab: {question.what} failed {times}: {question.because}", err=True)
    if not manifest.files and not code:
        raise NothingGatheredError(place)
    if not manifest.files:
        click.echo(f"{place}: interrupted by {manifest.because} before anything was collected")
        return code
    state = f"interrupted by {manifest.because}, " if code else ""
    path = str(place)
    following = shlex.join(["mqlab", "triage", f"./{path}" if path.startswith("-") else path])
    click.echo(f"{place}: {state}{counted(manifest.files, 'file')}, {size(manifest.bytes)}; next: {following}")
    return code


def _beside(bundle: Bundle, asked: Mapping[str, Any]) -> list[Asking]:
    since = epoch(asked["since"]) or time.time() - _HOUR
    asking: list[Asking] = []
    if asked["prometheus"]:
        token = secret(asked["token_file"])
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
