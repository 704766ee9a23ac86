"""What the kernel makes of literal lines of a log; no Spark."""

from dataclasses import dataclass, field, replace

from mqlab.formats.application_log import COUNTERS
from mqlab.kernel.counting import Counting
from mqlab.kernel.logs import LogReader
from mqlab.kernel.output import Output
from mqlab.kernel.pieces import Piece
from mqlab.kernel.splits import WHOLE, Split
from mqlab.sources import Envelope, Reading
from mqlab.tables import EVENTS

_SPLIT = Split(
    source="s", number=0, location="x.log", start=0, end=WHOLE, format="", reading=Reading.LOG.value,
    envelope=Envelope.NONE.value, name="x.log", snapshot_at=None, layout=None, large=False, size=0,
)  # fmt: skip
_NAMES = ("kind", "client_id", "topic", "peer", "member_id", "group", "value", "reason", "system")


@dataclass
class _Kept(Counting):
    """Counts lines, and remembers which of them were kept."""

    flags: list[bool] = field(default_factory=list)

    def add(self, lines, headers, kept, sizes, first, held=1):
        self.flags += kept.tolist()
        super().add(lines, headers, kept, sizes, first, held)


def tables(lines, form):
    """For each line of a file of the format *form* whether it is kept; the rows of each table, by line."""
    out, counting = Output(), _Kept()
    reader = LogReader(replace(_SPLIT, format=form), out, _counting=counting)
    reader.read(Piece("".join(f"{line}\n" for line in lines).encode()))
    reader.ended()
    out.close(lambda _: ())
    rows = {table: told.to_pylist() for table, told in out.tables.items()}
    return counting.flags, {table: sorted(told, key=lambda row: row["line"] or 0) for table, told in rows.items()}


def read(lines, form):
    """For each line whether it is kept, and the events of all of them, by line."""
    flags, rows = tables(lines, form)
    return flags, rows.get(EVENTS, [])


def kept(lines, form):
    """For each line, whether it is kept."""
    return read(lines, form)[0]


def events(lines, form):
    """The events of the lines that are kept: what was told, by name; what is not told is left out."""
    told = [row for row in read(lines, form)[1] if row["kind"] != COUNTERS]
    return [{name: row[name] for name in _NAMES if row[name] is not None} for row in told]


def picked(rows, columns):
    """The wanted *columns* of *rows*, as tuples."""
    return [tuple(row[column] for column in columns.split()) for row in rows]
