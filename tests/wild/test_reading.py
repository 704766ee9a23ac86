"""What people paste is read as what it is: each file of ``reading/`` gives what ``expected.toml`` says of it."""

import tomllib
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from plain_reading import tables

from mqlab import intake
from mqlab.formats.registry import FORMATS
from mqlab.kernel.output import COVERAGE
from mqlab.kernel.splits import splits
from mqlab.tables import EVENTS, POSITIONS

FOLDER = Path(__file__).parent / "reading"
EXPECTED = tomllib.loads((FOLDER / "expected.toml").read_text())


def read(name, scratch):
    sources = intake.gather([str(FOLDER / name)], scratch, FORMATS)
    return sources, tables(*splits(sources))


def shown(event):
    moment = event["at"].astimezone(UTC) if isinstance(event["at"], datetime) else None
    when = f"{moment:%Y-%m-%d %H:%M:%S}" if moment else "-"
    return f"{event['line']} {event['kind']} {when} {event['topic'] or ''}".rstrip()


def fits(event, wanted):
    """Whether an event says all that is wanted of it: line and kind, and a moment that may be told in part."""
    line, kind, *rest = wanted.split()
    said = shown(event)
    return said.startswith(f"{line} {kind} ") and all(part in said for part in rest)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_paste_gives_what_stands_in_it(name, tmp_path):
    wanted = EXPECTED[name]
    sources, rows = read(name, tmp_path)
    events = rows.get(EVENTS, [])
    counts = Counter(event["kind"] for event in events) | Counter(positions=len(rows.get(POSITIONS, [])))

    assert sorted({source.format for source in sources} - {"notes"}) == sorted(wanted["formats"])
    assert [one for one in wanted.get("events", []) if not any(fits(event, one) for event in events)] == []
    assert {kind: counts[kind] for kind in wanted.get("count", {})} == wanted.get("count", {})
    assert wanted.get("group") in {None, *(event["group"] for event in events)}
    assert any(wanted.get("text", "") in event["text"] for event in events) or not events


@pytest.mark.parametrize("name", EXPECTED)
def test_every_line_of_a_paste_is_counted_once(name, tmp_path):
    sources, rows = read(name, tmp_path)
    content = Path(sources[0].location).read_bytes()
    lines = content.count(b"\n") + (not content.endswith(b"\n"))

    assert sum(row["lines"] for row in rows[COVERAGE]) == lines
    assert sum(row["bytes"] for row in rows[COVERAGE]) in (len(content), len(content) + 1)
