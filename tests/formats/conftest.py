"""What every test of a format does: literal lines in, plain tuples out; no Spark."""

from datetime import UTC, datetime

import polars as pl
import pytest

from mqlab.formats import values
from mqlab.formats.base import About, BlockFormat, Data, Head, LaidOut, Line, Noise

KINDS = {Data: "data", Noise: "noise"}


def about(form, text, name="out.txt", snapshot_at=None):
    """What is known of a file with this *text* beside its lines."""
    layout = form.layout(Head(name, text, len(text))) if isinstance(form, LaidOut) else None
    return About(name, values.instant(snapshot_at), layout)


def written(text):
    """The lines of *text* that are not blank, with their numbers."""
    return [Line(n, line) for n, line in enumerate(text.removeprefix("\n").split("\n"), 1) if line.strip()]


def read(form, text, name="out.txt", snapshot_at=None):
    """Rows by table, by line, every column there; and the kind of each line by number."""
    lines, known = written(text), about(form, text, name, snapshot_at)
    if isinstance(form, BlockFormat):
        frame = pl.DataFrame(
            {"number": [one.number for one in lines], "text": [one.text for one in lines], "clock": None},
            schema={"number": pl.Int64, "text": pl.String, "clock": pl.Int64},
        )
        block = form.parse_block(frame, known)
        found = {table: frame.sort("line").to_dicts() for table, frame in block.rows.items()}
        return found, dict(zip(frame["number"], block.kinds, strict=True))
    items = sorted(form.parse(iter(lines), known), key=lambda item: item.line.number)
    assert [item.line for item in items] == lines, "each line is told of once"
    found = {}
    for item in items:
        for table, given in item.rows if isinstance(item, Data) else ():
            assert set(given) <= set(table.names), f"no column of {table.name}: {set(given) - set(table.names)}"
            whole = dict.fromkeys(table.names) | {"line": item.line.number, "text": item.line.text} | given
            found.setdefault(table, []).append(whole)
    return found, {item.line.number: KINDS.get(type(item)) for item in items}


def clock(micros):
    """``HH:mm:ss`` UTC of microseconds since 1970."""
    return None if micros is None else f"{datetime.fromtimestamp(micros // 1_000_000, UTC):%H:%M:%S}"


@pytest.fixture
def loaded():
    """A function: rows of one table as tuples of the wanted columns, by line; moments as ``HH:mm:ss`` UTC."""

    def _loaded(form, table, columns, text, name="out.txt", snapshot_at=None):
        rows = read(form, text, name, snapshot_at)[0].get(table, [])
        told = [{**row, "at": clock(row.get("at"))} for row in rows]
        return [tuple(row[column] for column in columns.split()) for row in told]

    return _loaded


@pytest.fixture
def tables():
    """A function: rows by table, as dictionaries."""
    return lambda *args, **options: read(*args, **options)[0]


@pytest.fixture
def classes():
    """A function: the kind of each line in order; a blank one is noise."""

    def _classes(form, text):
        kinds = read(form, text)[1]
        return [kinds.get(n, "noise") for n, _ in enumerate(text.removeprefix("\n").split("\n"), 1)]

    return _classes
