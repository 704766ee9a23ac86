"""What every command about material shares: its options, the opening, progress on a terminal, the result."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mqlab.errors import BackwardsError, CannotWriteError
from mqlab.languages import ENGLISH, speak
from mqlab.spark import early
from mqlab.terminal import bare, safe, visible
from mqlab.verbs.helping import shared
from mqlab.writing import write

if TYPE_CHECKING:
    from mqlab.capture import Capture


Command = TypeVar("Command", bound=Callable[..., Any])


_shared = shared("Options of all commands about material")


with_plugins = _shared(
    "--plugins",
    multiple=True,
    metavar="PATH_OR_PACKAGE",
    help="Your own formats and rules: code that runs on this machine (default: $MQLAB_PLUGINS).",
)
"""The option of every command that shows or uses what plug-ins add."""


def language(command: Command) -> Command:
    """The option of every command whose text is there in several languages; JSON is English."""
    option = _shared(
        "--lang", envvar="MQLAB_LANG", default=ENGLISH, show_default=True, expose_value=False,
        callback=lambda _context, _option, chosen: speak(chosen), help="Language of the output: en or zh.",
    )  # fmt: skip
    return option(command)


def common(command: Command) -> Command:
    """Options that every command about material takes."""
    return material(_shared("--tz", default="UTC", show_default=True, help="Time zone of the output.")(command))


def material(command: Command) -> Command:
    """Paths, and options that say what of the material is read, and how."""
    for option in reversed(
        (
            click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path()),
            _shared("--since", help="Only what happened from this moment on (ISO; UTC unless it has a zone)."),
            _shared("--until", help="Only what happened up to this moment."),
            _shared("--group", help="Only this consumer group."),
            _shared("--topic", help="Only this topic."),
            _shared("--client", help="Only this client id."),
            read_so,
        )
    ):
        command = option(command)
    return command


def read_so(command: Command) -> Command:
    """Options that say how material is read, and with what."""
    for option in reversed(
        (
            _shared(
                "--log-tz", multiple=True, metavar="[GLOB=]ZONE", help="Time zone of logs that do not print theirs."
            ),
            _shared(
                "--ledger",
                metavar="MAP.TOML",
                type=click.Path(),
                help="Which files are ledgers, and what their columns are.",
            ),
            with_plugins,
            _shared("--master", help="Spark master, e.g. spark://host:7077."),
            _shared(
                "--workspace", type=click.Path(), help="Cache folder (default: $MQLAB_WORKSPACE or below ~/.cache)."
            ),
        )
    ):
        command = option(command)
    return language(command)


def written(command: Command) -> Command:
    """Options of commands whose result is text or JSON, on standard output or in a file."""
    output = click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the result to this file.")
    return in_form(output(command))


in_form = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Text for people, JSON for programs.",
)
"""The option of every command whose result is text or JSON."""


def opened(
    paths: tuple[str, ...], since: str | None, until: str | None, log_tz: tuple[str, ...], tz: str, **chosen: Any
) -> tuple[Capture, tzinfo]:
    """The capture behind the options of ``common``, and the zone in which times are shown.

    Raises:
        MqlabError: bad options, nothing readable, no Java.
    """
    extend(chosen["plugins"])
    early.begin(paths, chosen)
    from mqlab.capture import Options, open_capture
    from mqlab.units import parse_zone

    zone = UTC if tz == "UTC" else parse_zone(tz)
    begin, end = between(since, until)
    Options(log_tz=log_tz).zones()
    with progress() as tell:
        return open_capture(paths, since=begin, until=end, log_tz=log_tz, progress=tell, **chosen), zone


def extend(given: Sequence[str]) -> None:
    """Bring the plug-ins that were *given*, or are in the environment, into force.

    Raises:
        PluginError: one of them cannot be used.
    """
    from mqlab.plugins import named

    if named(given):
        from mqlab.plugin_faults import taken

        taken(given)


def between(since: str | None, until: str | None) -> tuple[float | None, float | None]:
    """Both moments as epoch seconds.

    Raises:
        BadTimeError: one of them cannot be read.
        BackwardsError: the first lies after the second.
    """
    from mqlab.units import epoch

    begin, end = epoch(since), epoch(until)
    if begin is not None and end is not None and begin > end:
        raise BackwardsError(str(since), str(until))
    return begin, end


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A function that shows what goes on: a moving line on a terminal, nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=bare(sys.stderr))
    with console.status("starting") as status:
        yield lambda step: status.update(Text(safe(step)))


def deliver(text: str, output: str | None, paint: Callable[[str], str] = str) -> None:
    """Write *text* to standard output, painted where that is a terminal, or to the file *output*.

    Raises:
        CannotWriteError: it cannot be written.
    """
    shown = visible(text)
    if output:
        write(Path(output), shown)
        return
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        shown = paint(shown)
    try:
        sys.stdout.buffer.write(shown.encode("utf-8", "backslashreplace"))
        sys.stdout.flush()
    except OSError as error:
        if error.errno in (errno.EPIPE, errno.EBADF):  # nobody reads: ``endings`` knows what that means
            raise
        raise CannotWriteError("Standard output", error) from error
