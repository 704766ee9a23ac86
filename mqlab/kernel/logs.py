"""Dated lines: those that a signature selects become rows, all are counted by minute, level and shape.

All lines are looked at as columns (``vectors``); a line by itself is looked at only where it holds a word of a
signature, and of a flood of such lines only the first of a kind and ten seconds: the last stands for the rest.
An undated line, such as that of an exception, belongs to the dated one above it, across the edge of a split too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
import polars as pl

from mqlab.formats import application_log, log_events, mosquitto_log, noted_lines, own_lines, paho_log, signatures
from mqlab.formats.base import Line
from mqlab.formats.layouts import LEVELS, Moment, moment
from mqlab.formats.printed_settings import Blocks
from mqlab.formats.signatures import SIGNATURES, Found
from mqlab.formats.values import rust
from mqlab.kernel import floods, vectors
from mqlab.kernel.counting import Counting
from mqlab.kernel.output import Output
from mqlab.kernel.pieces import Piece
from mqlab.kernel.splits import Split
from mqlab.kernel.vectors import Flags, Headers, Lines, Longs
from mqlab.material.envelopes import unwrapped
from mqlab.secrets import Spanning, mask_all, within
from mqlab.sources import Envelope
from mqlab.tables import EVENTS, LEDGER, POLLS, Row

LONGEST = 16_384
"""Characters kept of one line; longer ones end in an ellipsis."""
_WARN = LEVELS.index("WARN") + 1
_SAID_BY = {"connection-lost": "error:mqtt-connack-refused"}
"""A client whose CONNECT was refused prints the end of a connection right below, too."""
_LEVEL = re.compile(r"\[?(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL) ?\]?[ \[:]")
"""A level with which a record begins in a log without dates."""
_THROWN = r":exception=>|\|BROKERFAIL\||poll interval .{1,30}exceeded"
"""Logstash writes at INFO, librdkafka at DEBUG, and programs around librdkafka at any level, what failed."""
_CAUSED = 100
"""Lines of a stack trace within which ``Caused by`` repeats what its record has said."""
_SETTING = r"^\s+[a-z][A-Za-z0-9_.-]+ = "
_FRAME = np.frombuffer(b"\tat ", np.uint8)


@dataclass(frozen=True)
class Batch:
    """The lines of one piece."""

    raw: Lines
    inner: Lines
    """Without envelopes."""
    clocks: Sequence[int | None] | None
    """Moments that the envelopes show."""
    headers: Headers
    sizes: Longs
    """Bytes of each line in the file."""
    first: int
    """Number of the first line in its split, from 1; those before the split have numbers below that."""

    @cached_property
    def texts(self) -> pl.Series:
        """The lines without envelopes."""
        return self.inner.texts()

    @cached_property
    def dated(self) -> Longs:
        """For each line, the nearest dated one up to it; -1 where there is none."""
        places = np.where(self.headers.second >= 0, np.arange(len(self.inner)), -1)
        return np.maximum.accumulate(places)

    @cached_property
    def severe(self) -> Flags:
        """Lines of level WARN or worse, or of none, but no frames of a stack; and those that show what was thrown."""
        frames: Flags = (self.inner.data[self.inner.starts[:, None] + np.arange(4)] == _FRAME).all(axis=1)
        complaints: Flags = (self.headers.level >= _WARN) | ((self.headers.level == 0) & ~frames)
        complaints |= self.texts.str.contains(_THROWN).to_numpy()
        return complaints

    @cached_property
    def raw_texts(self) -> pl.Series:
        """The lines as they stand in the file."""
        return self.raw.texts()

    def moment(self, place: int) -> Moment | None:
        """The moment that the line shows."""
        return moment(str(self.texts[place]))

    def kept(self, places: Longs) -> Iterator[tuple[int, Line, str]]:
        """The lines in these *places* as they are kept, each with its place and as it stands in the file."""
        texts = shortened(self.texts.gather(places))
        shown = texts
        if self.clocks is not None:
            inner = self.texts.gather(places)
            shown = shortened(within(self.raw_texts.gather(places), inner, mask_all(inner)))
        for place, text, told in zip(places.tolist(), texts.to_list(), shown.to_list(), strict=True):
            yield place, Line(self.first + place, text, self.clocks[place] if self.clocks else None), told


@dataclass
class LogReader:
    """Reads the pieces of one split in their order."""

    split: Split
    out: Output
    _lines: int = 0
    _moment: Moment | None = None
    """Of the last dated line."""
    _kind: str | None = None
    _line: int = 0
    """Kind and number of the last line that was kept."""
    _blocks: Blocks = field(default_factory=Blocks)
    _counting: Counting = field(default_factory=Counting)
    _spanning: Spanning = field(default_factory=Spanning)

    @property
    def _any_level(self) -> bool:
        """Programs that speak MQTT tell at INFO that a connection was made or lost: that needs no level."""
        return self.split.format == paho_log.FORMAT.name

    def read(self, piece: Piece) -> None:
        """Read one piece; of one that is not the split's own only what it leaves to the lines around it counts."""
        batch = self._batch(piece)
        self._lines += len(batch.inner) if piece.own else 0
        kept = np.zeros(len(batch.inner), np.bool_)
        candidates = floods.bounded(batch, self._candidates(batch)) if self.split.large else self._candidates(batch)
        settings = _settings(batch)
        blocks = set(settings.tolist())
        numbers = dict(zip(candidates.places.tolist(), self._numbers(batch, candidates.places), strict=True))
        for place, line, shown in batch.kept(np.union1d(candidates.places, settings)):
            found, of_broker = self._selected(batch, place, line.text, numbers.get(place, ()))
            if found:
                when = self._when(batch, place, line)
                is_record = batch.headers.second[place] >= 0 or (when is None and _LEVEL.match(line.text))
                head = batch.first + int(batch.dated[place]) if batch.dated[place] >= 0 else None
                is_new = self._is_new(line, found, head, own=of_broker or bool(is_record))
                self._settings(self._blocks.header(line.text, when))
                if is_new and piece.own:
                    rows = log_events.rows(line.text, found)
                    self._hand_over(rows, line.number, shown, when, candidates.weights.get(place, 1))
                kept[[place, *candidates.spared.get(place, ())]] = True
            elif place in blocks:
                self._blocks.setting(line)
                kept[place] = True
        if self.split.layout and piece.own:
            self._notes(batch, kept, self.split.layout)
        if len(batch.inner) and batch.dated[-1] >= 0:
            self._moment = batch.moment(int(batch.dated[-1]))
        if piece.own:
            taken = np.array([one.lines for one in piece.wholes]) if piece.wholes else 1
            self._counting.add(batch.inner, batch.headers, kept, batch.sizes, batch.first, taken)

    def ended(self) -> None:
        """Hand over what is known only at the end."""
        self._settings(self._blocks.ended())
        self._counting.hand_over(self.out)

    def _batch(self, piece: Piece) -> Batch:
        raw = Lines.of(vectors.valid(piece.data))
        inner, clocks, envelope = raw, None, Envelope(self.split.envelope)
        if piece.wholes:
            inner = Lines.of_texts(pl.Series([one.inner for one in piece.wholes], dtype=pl.String))
            clocks = [one.clock for one in piece.wholes]
        elif envelope is not Envelope.NONE:
            taken = [unwrapped(line, envelope) for line in raw.texts()]
            inner, clocks = (
                Lines.of_texts(pl.Series([text for text, _ in taken], dtype=pl.String)),
                [c for _, c in taken],
            )
        size = sizes(raw, piece)
        texts = inner.texts()
        hidden = self._spanning.masked(texts)
        if hidden is not texts:
            raw = Lines.of_texts(hidden if raw is inner else within(raw.texts(), texts, hidden))
            inner = raw if clocks is None else Lines.of_texts(hidden)
        is_before = self._lines == 0 and not piece.own
        first = 1 - len(raw) if is_before else self._lines + 1
        return Batch(raw, inner, clocks, vectors.headers(inner), size, first)

    def _candidates(self, batch: Batch) -> floods.Candidates:
        """Lines that hold a word of a signature."""
        found = batch.texts.str.contains(_one_of(tuple(signatures.words().begins))).to_numpy().copy()
        severe = np.arange(len(batch.inner)) if self._any_level else np.flatnonzero(batch.severe)
        found[severe] |= batch.texts.gather(severe).str.contains(_one_of(tuple(signatures.words().contains))).to_numpy()
        if self.split.format == mosquitto_log.FORMAT.name:
            found |= ~batch.texts.str.contains(mosquitto_log.BESIDES).to_numpy()
        return floods.Candidates(np.flatnonzero(found & (batch.inner.lengths > 0)))

    def _numbers(self, batch: Batch, places: Longs) -> Iterator[set[int]]:
        """The signatures whose words each of the lines holds."""
        words, texts = signatures.words(), batch.texts.gather(places)
        begun, told = (
            texts.str.extract_many(list(kind), overlapping=True).to_list() for kind in (words.begins, words.contains)
        )
        for one, two in zip(begun, told, strict=True):
            yield {n for word in one for n in words.begins[word]} | {n for word in two for n in words.contains[word]}

    def _selected(self, batch: Batch, place: int, text: str, numbers: Iterable[int]) -> tuple[Found | None, bool]:
        """The signature that selects the line, and whether the broker itself wrote it there."""
        said = own_lines.message(text) if self.split.format == mosquitto_log.FORMAT.name else None
        if said is not None and (own := own_lines.select(text, said)):
            return own, True
        if said is not None:
            numbers = [number for number in numbers if signatures.is_error(number)]
        severe, plain = self._any_level or bool(batch.severe[place]), bool(batch.headers.plain[place])
        return signatures.select(text, numbers, severe=severe, is_plain=plain), said is not None

    def _is_new(self, line: Line, found: Found, head: int | None, *, own: bool) -> bool:
        """Whether the line is not only what its record, or the line before, has said; a line of its *own* record is.

        *head* is the number of the dated line that its record begins with, None where it lies in an earlier piece.
        """
        kind = SIGNATURES[found.number].kind
        apart = line.number - self._line
        own = own or (head is not None and head > self._line)
        again = self._kind == kind and apart <= (_CAUSED if line.text.startswith("Caused by") else 1) and not own
        told = self._kind is not None and self._kind == _SAID_BY.get(kind) and apart == 1
        self._kind, self._line = None if kind == application_log.BATCH else kind, line.number
        return not (again or told)

    def _notes(self, batch: Batch, kept: Flags, layout: str) -> None:
        """Lines in which an application notes a message, where no signature selects them."""
        whole = self.split.envelope == Envelope.STRUCTURED.value
        places = np.flatnonzero(
            noted_lines.are_rows(layout, batch.raw_texts if whole else batch.texts).to_numpy() & ~kept
        )
        texts = mask_all(batch.raw_texts.gather(places))
        lines = pl.DataFrame(
            {
                "number": places + batch.first,
                "text": texts,
                "inner": texts if whole else mask_all(batch.texts.gather(places)),
                "clock": pl.Series(
                    [batch.clocks[place] if batch.clocks else None for place in places.tolist()], dtype=pl.Int64
                ),
            }
        )
        self.out.add_frame(LEDGER, noted_lines.rows(layout, lines).with_columns(pl.lit(0, pl.Int32).alias("east")))
        kept[places] = True

    def _hand_over(self, rows: Sequence[Row], number: int, text: str, when: Moment | None, weight: int) -> None:
        for table, values in rows:
            counted = {"lines": weight} if table in (EVENTS, POLLS) else {}
            row = Row(table, {"at": when.wall if when else None, **counted, **values})
            self.out.add(row, number, text, when.east if when else None)

    def _when(self, batch: Batch, place: int, line: Line) -> Moment | None:
        """The moment of a line: its own, its envelope's, or that of the dated line above it."""
        if batch.headers.second[place] >= 0 and (own := moment(line.text)):
            return own
        if line.clock is not None:
            return Moment(line.clock, 0)
        above = int(batch.dated[place])
        return batch.moment(above) if above >= 0 else self._moment

    def _settings(self, told: Iterator[tuple[Line, Row]]) -> None:
        for line, row in told:
            if 0 < line.number <= self._lines:
                self.out.add(row, line.number, line.text, self._blocks.east)


@lru_cache(maxsize=8)
def _one_of(words: tuple[str, ...]) -> str:
    """A regex for Polars that finds any of the *words*."""
    return "|".join(rust(re.escape(word)) for word in words)


def sizes(lines: Lines, piece: Piece) -> Longs:
    """Bytes of each line of a piece, its end included, as the source has them."""
    if piece.wholes:
        return np.array([one.bytes for one in piece.wholes])
    if len(lines.data) != len(piece.data) + vectors.PAD:
        lines = Lines.of(piece.data)  # what is no UTF-8 was replaced by more bytes
    ends = np.append(lines.starts[1:], len(piece.data)) if len(lines) else lines.starts
    counted: Longs = ends - lines.starts
    if len(lines):
        counted[-1] += piece.cut + (0 if piece.data.endswith(b"\n") else 1)
    return counted


def _settings(batch: Batch) -> Longs:
    """Lines of blocks of settings."""
    first = batch.inner.data[batch.inner.starts]
    places = np.flatnonzero(((first == 32) | (first == 9)) & ~batch.headers.plain)
    found: Longs = places[batch.texts.gather(places).str.contains(_SETTING).to_numpy()]
    return found


def shortened(texts: pl.Series) -> pl.Series:
    """Lines as they are kept: no longer than ``LONGEST``, without secrets."""
    long = texts.str.len_chars() > LONGEST
    if long.any():
        texts = pl.select(pl.when(long).then(texts.str.slice(0, LONGEST) + "…").otherwise(texts)).to_series()
    return mask_all(texts)
