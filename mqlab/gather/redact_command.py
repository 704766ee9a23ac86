"""The verb `mqlab redact`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mqlab.verbs.material import progress

if TYPE_CHECKING:
    from mqlab.gather.redact import Redaction

_MAX_SHOWN = 40
"""Words in a list that a person looks through."""


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="A folder, or an archive that ends in .tar.zst.",
)
@click.option(
    "--key", type=click.Path(dir_okay=False, path_type=Path), help="Your key (default: OUTPUT.key; created if missing)."
)
@click.option(
    "--map",
    "map_",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The replacement of each name (default: OUTPUT.map.json).",
)
@click.option("--shift", "weeks", type=int, default=0, metavar="WEEKS", help="Shift all times by this many weeks.")
@click.option("--keep-payload", is_flag=True, help="Keep payloads, without names and secrets.")
@click.option("--no-check", is_flag=True, help="Do not diagnose the copy for comparison.")
@click.option("--master", help="Spark master, e.g. spark://host:7077.")
@click.option("--workspace", help="Cache folder (default: $MQLAB_WORKSPACE or below ~/.cache).")
def redact(paths: tuple[str, ...], output: Path, key: Path | None, map_: Path | None, **chosen: Any) -> int:
    """Write a copy to share: no names, payloads or secrets.

    Names are replaced; then the copy is diagnosed and compared with the original.
    """
    from mqlab.gather.redact import Options, redact

    stem = output.with_name(output.name.removesuffix(".tar.zst"))
    key, map_ = key or stem.with_name(f"{stem.name}.key"), map_ or stem.with_name(f"{stem.name}.map.json")
    check = not chosen["no_check"]
    options = Options(key, map_, chosen["weeks"], chosen["workspace"], chosen["master"], check, chosen["keep_payload"])
    with progress() as tell:
        done = redact(paths, output, options, tell)
    click.echo(f"{done.output}: {done.replaced} words replaced; names by kind: {_counts(done) or 'none'}.")
    click.echo(f"Keep to yourself: {key} and {map_}.")
    _show(done)
    if not check:
        click.echo("The copy was not diagnosed: whether mqlab says the same of it is unknown.")
    elif not done.differs:
        click.echo("mqlab says the same of the copy.")
    return 1 if done.left or done.differs else 0


def _counts(done: Redaction) -> str:
    return ", ".join(f"{kind} {len(names)}" for kind, names in done.pseudonyms.items() if names)


def _show(done: Redaction) -> None:
    """What a person looks through before the copy is shared."""
    if done.words:
        click.echo(f"Words of the software, replaced only where a name is expected: {', '.join(done.words)}.")
    if done.unsure:
        click.echo(f"Words that stayed and may be somebody's name: {', '.join(done.unsure[:_MAX_SHOWN])}.")
    for one in done.left_out:
        click.echo(f"Left out: {one.name}: {one.because}")
    for name, times in list(done.left.items())[:_MAX_SHOWN]:
        click.echo(f"Still in the copy, {times} times: {name}", err=True)
    if len(done.left) > _MAX_SHOWN:
        click.echo(f"Still in the copy: {len(done.left) - _MAX_SHOWN} others.", err=True)
    for what in done.differs:
        click.echo(f"The diagnosis of the copy differs: {what}", err=True)
