"""``mqlab plugin``: begin a plug-in, and try it."""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

import click

from mqlab.errors import MqlabError
from mqlab.verbs.helping import Verbs


class FolderTakenError(MqlabError):
    """A plug-in was to begin where something is already."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"{folder} already exists: give the name of a new folder.")


@click.group(cls=Verbs)
def plugin() -> None:
    """Create and test a plug-in: formats, rules, known errors."""


@plugin.command()
@click.argument("folder", type=click.Path(path_type=Path))
def new(folder: Path) -> int:
    """Write a small working plug-in into FOLDER, as a start for your own."""
    if folder.exists():
        raise FolderTakenError(folder)
    with resources.as_file(resources.files("mqlab.plugin_check").joinpath("example")) as example:
        shutil.copytree(example, folder, ignore=shutil.ignore_patterns("__pycache__"))
    click.echo(f"wrote {folder}: change it, then mqlab plugin check {folder}")
    return 0


@plugin.command()
@click.argument("path", metavar="PATH_OR_PACKAGE", type=click.Path())
def check(path: str) -> int:
    """Test a plug-in on its samples: one line per case; exit code 1 if one is wrong."""
    from mqlab.plugin_check.cases import check as tried

    every = tried(path)
    for one in every:
        click.echo(f"WRONG  {one.what}: {one.wrong}" if one.wrong else f"holds  {one.what}")
    wrong = sum(bool(one.wrong) for one in every)
    click.echo(f"{wrong} of {len(every)} are wrong." if wrong else f"All {len(every)} hold.")
    return int(wrong > 0)
