"""``mqlab compare`` and ``mqlab history``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mqlab.errors import (
    BadLedgerMapError,
    BadTimeZoneError,
    ClusterError,
    JavaMissingError,
    MqlabError,
    NothingReadableError,
    WorkspaceError,
)
from mqlab.languages import said
from mqlab.notes import NAME
from mqlab.screens.rows import WIDTH
from mqlab.spark import early
from mqlab.terminal import safe, wrapped
from mqlab.verbs.helping import Verb
from mqlab.verbs.material import deliver, progress, read_so, written
from mqlab.words import room

if TYPE_CHECKING:
    from mqlab.comparing.history import Incident
    from mqlab.comparing.sides import Side
    from mqlab.notes import IncidentNotes

say = room("verbs")

_PAGES = (".html", ".htm", ".pdf")


@click.command(cls=Verb)
@click.argument("a", metavar="A", type=click.Path())
@click.argument("b", metavar="B", type=click.Path())
@click.option("--at", metavar="MOMENT", help="Use A up to this moment and B from it on: one capture, before and after.")
@read_so
@written
def compare(a: str, b: str, at: str | None, form: str, output: str | None, **chosen: Any) -> int:
    """Compare two captures: the same incident, repaired, what differs.

    A and B are each a folder, an archive or a file: two incidents, or one before (A) and after (B) its repair.
    The answer is "repaired" only if B is clear of what was found in A and would have shown it; what could not be
    checked in B is never a repair. With -o FILE.html or FILE.pdf it writes a page that opens offline.
    """
    wants_page = _wants_page(form, output)
    early.begin((a,), chosen)
    from mqlab.comparing import comparison
    from mqlab.comparing.tables import text

    with progress() as tell:
        first, _ = _opened(a, tell, {**chosen, "until": at})
        second, _ = _opened(b, tell, {**chosen, "since": at})
    told = comparison.compare(first, second)
    if form == "json":
        deliver(comparison.dumps(told), output)
    elif output and wants_page:
        from mqlab.comparing import pages

        _put(pages.compared(told), Path(output), told.answer.sentence)
    else:
        sentences = (said(told.answer.kind).upper(), told.answer.sentence, *told.answer.open, *told.answer.changed)
        deliver(_screen(sentences, text(comparison.tables(told))), output)
    return 0


@click.command(cls=Verb)
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@read_so
@written
def history(folder: str, form: str, output: str | None, **chosen: Any) -> int:
    """List all incidents of a folder: cause, cost, what came back.

    Each folder and each archive directly in FOLDER is one incident. A folder without an incident.yml whose folders have
    one holds several incidents: its folders and archives. Loose files are left out. The title and the times at which an
    incident was detected, mitigated and resolved come from its incident.yml. With -o FILE.html or FILE.pdf it writes a
    page with a figure.
    """
    wants_page = _wants_page(form, output)
    from mqlab.comparing import history as told

    found = sorted(entries(Path(folder)))
    with progress() as tell:
        rows = [
            _incident(str(one.relative_to(folder)), one, _counting(tell, f"{number}/{len(found)} {one.name}"), chosen)
            for number, one in enumerate(found, start=1)
        ]
    if all(one.incident == told.UNREADABLE for one in rows):
        because = say("entry", entry=rows[0].entry, because=rows[0].told) if rows else say("no-entry")
        raise NothingReadableError([folder], because)
    whole = told.history(folder, rows)
    if form == "json":
        deliver(told.dumps(whole), output)
    elif output and wants_page:
        from mqlab.comparing import pages

        _put(pages.listed(whole), Path(output), told.summary(whole))
    else:
        deliver(_screen((told.summary(whole), *told.times(whole)), told.screen(whole)), output)
    return 0


_OURS = (BadLedgerMapError, BadTimeZoneError, ClusterError, JavaMissingError, WorkspaceError)
"""What would fail for every entry alike."""


def entries(folder: Path) -> Iterator[Path]:
    """The incidents of *folder*, by the rule that ``mqlab history --help`` tells."""
    for one in folder.iterdir():
        if one.name.startswith("."):
            continue
        if one.is_dir():
            several = not (one / NAME).is_file() and next(one.glob(f"*/{NAME}"), None) is not None
            yield from entries(one) if several else (one,)
        elif _is_archive(one):
            yield one


def _is_archive(file: Path) -> bool:
    """By its content; by its name where that is damaged."""
    from mqlab.material import streams

    try:
        with streams.opened(file) as content:
            return streams.kind_of(content.read(512)) in ("tar", "zip")
    except streams.BROKEN:
        return file.name.lower().endswith(_ARCHIVES)


_ARCHIVES = (".tar", ".tgz", ".tar.gz", ".tar.zst", ".tar.xz", ".tar.bz2", ".zip")


def _counting(tell: Callable[[str], None], so_far: str) -> Callable[[str], None]:
    return lambda step: tell(f"{so_far}: {step}")


def _incident(entry: str, path: Path, tell: Callable[[str], None], chosen: Mapping[str, Any]) -> Incident:
    """The row of one entry; of one that cannot be read, why."""
    from mqlab.comparing import history as told

    try:
        told_side, notes = _opened(str(path), tell, chosen)
    except _OURS:
        raise
    except MqlabError as error:
        return told.unreadable(entry, str(error))
    except Exception as error:  # one entry that mqlab fails on does not take the others with it
        return told.unreadable(entry, say("bug", kind=type(error).__name__, error=str(error)))
    return told.incident(entry, told_side, notes)


def _opened(path: str, tell: Callable[[str], None], chosen: Mapping[str, Any]) -> tuple[Side, IncidentNotes]:
    """One capture, and what people noted of it.

    Raises:
        MqlabError: bad options, nothing readable, no Java.
    """
    from mqlab.capture import open_capture
    from mqlab.comparing.sides import side

    capture = open_capture(path, progress=tell, **chosen)
    return side(path, capture), capture.notes


def _screen(sentences: Sequence[str], below: Iterator[str]) -> str:
    """The answer, then the tables."""
    told = (line for one in sentences for line in wrapped(safe(said(one)), WIDTH, "  "))
    return "\n".join([*told, *below]) + "\n"


def _wants_page(form: str, output: str | None) -> bool:
    """Whether a page is to be written; sees before all work that there is a browser for a PDF.

    Raises:
        NoBrowserError: there is none.
    """
    suffix = Path(output).suffix.lower() if output and form != "json" else ""
    if suffix == ".pdf":
        from mqlab.reporting import printing

        printing.browser()
    return suffix in _PAGES


def _put(page: str, output: Path, sentence: str) -> None:
    """Write a page, and say what stands in it."""
    if output.suffix.lower() == ".pdf":
        from mqlab.reporting import printing

        printing.print_page(page, output)
    else:
        deliver(page, str(output))
    click.echo(f"{said(sentence)}\n{output} ({output.stat().st_size / 1e6:.1f} MB)")
