r"""Records as they were before they were copied: what was wrapped is joined, what was glued is cut.

Sample lines, the first four of which are one record, and the last one two::

    2024-05-01 12:18:43,427 WARN  [main] a.b.Sender - [Producer clie
    ntId=p] Got error produce response in correlation id 3 on topic-
    {
      "level": "warn", "msg": "…"
    2024-05-01 12:18:43,427 WARN a.b.C - lost 2024-05-01 12:18:44,102 WARN a.b.C - lost again
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from mqlab.formats import layouts
from mqlab.material import envelopes


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text, the number of the line that it begins in, and the lines and bytes that it takes up."""

    number: int
    lines: int
    bytes: int
    text: str


_NARROW, _WIDE = 40, 400
"""Characters between which text is wrapped."""
_END = 10
"""Characters at the end of a line that are compared: lines of one length that end alike were not cut."""
_FRAME = re.compile(r"\s+at [\w.$<>]+[(/]|\s*\.\.\. \d+ |Caused by|(?:\w+\.)+\w*(?:Exception|Error)\b|\s+[\w.]+ = ")
"""What begins a line of its own within a record."""
_LONGEST_OBJECT = 600
"""Lines of a JSON object that is joined."""
_MOST_CUT = 10_000


def objects(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """*pieces* with each JSON object that stands on several lines as one."""
    place = 0
    while place < len(pieces):
        end = _object_end(pieces, place) if pieces[place].text.lstrip()[:1] == "{" else place
        yield pieces[place] if end == place else _joined(pieces[place : end + 1], _compact)
        place = end + 1


def _object_end(pieces: Sequence[Piece], place: int) -> int:
    """The place of the last line of the object that begins at *place*; *place* itself where it is none."""
    if pieces[place].text.rstrip(" ,]").endswith("}"):
        return place
    for end in range(place + 1, min(len(pieces), place + _LONGEST_OBJECT)):
        last = pieces[end].text.strip()
        if last[:1] == "}" and _is_object(_spaced(pieces[place : end + 1])):
            return end
    return place


def _spaced(pieces: Sequence[Piece]) -> str:
    return "\n".join(one.text for one in pieces).strip().rstrip(",]").strip()


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text, strict=False), dict)
    except (ValueError, RecursionError):
        return False


def _compact(pieces: Sequence[Piece]) -> str:
    return json.dumps(json.loads(_spaced(pieces), strict=False), ensure_ascii=False)


def _joined(pieces: Sequence[Piece], text: Callable[[Sequence[Piece]], str]) -> Piece:
    return Piece(pieces[0].number, sum(p.lines for p in pieces), sum(p.bytes for p in pieces), text(pieces))


_REPORT = re.compile(r"(?:\S+ [\d:.]+ )?=[A-Z]+ REPORT={4}")
"""Erlang's, whose message stands on the lines below, up to a blank one."""


def reports(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """*pieces* with each of Erlang's reports as one."""
    place = 0
    while place < len(pieces):
        end = place + 1
        if _REPORT.match(pieces[place].text):
            while end < len(pieces) and pieces[end].text.strip() and not _REPORT.match(pieces[end].text):
                end += 1
        yield _joined(pieces[place:end], _on_one_line) if end > place + 1 else pieces[place]
        place = end


def _on_one_line(pieces: Sequence[Piece]) -> str:
    return " ".join(piece.text.strip() for piece in pieces)


def cut(piece: Piece) -> Iterator[Piece]:
    """The records that stand on one line, each a piece; all but the first take up nothing."""
    texts = [
        record
        for text in _unfolded(piece.text).split("\n")
        for record in ([text] if text.startswith("{") else _records(text))
    ]
    written = [text for text in texts if text.strip()] or [""]
    yield replace(piece, text=written[0])
    yield from (Piece(piece.number, 0, 0, text) for text in written[1:])


def _unfolded(text: str) -> str:
    r"""*text* with line feeds that were written as ``\n``, where a record or a frame stands behind them."""
    if "\\n" not in text or (text.startswith("{") and envelopes.is_log_record(text)):
        return text
    return re.sub(r"\\n(?=(?:\\t|\s)*(?:at [\w.$]|Caused by|\[?\d{4}-\d\d-\d\d[T ]|\.\.\. \d))", "\n", text).replace(
        "\\t", "\t"
    )


_START = re.compile(
    rf"\[?(?:\d{{4}}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?|\d\d:\d\d:\d\d[.,]\d{{1,9}}|1\d{{9}}: |"
    rf"\d\d/\d\d/\d\d \d\d:\d\d:\d\d|(?:{layouts.MONTH}) [ \d]\d \d\d:\d\d:\d\d|%\d\|\d{{10}}\.\d{{3}}\|)"
)
_LEVEL_NEAR = 80


def _records(text: str) -> list[str]:
    """*text* cut before each moment that is written as the first one is, and followed by a level where that one is."""
    first = _START.match(text)
    if not first or len(text) < 2 * len(first[0]) + 20:
        return [text]
    shape = "".join(r"\d" if c.isdigit() else "[A-Z]" if c.isupper() else re.escape(c) for c in first[0])
    leveled = re.search(layouts.LEVEL, text[: first.end() + _LEVEL_NEAR]) is not None
    places = [
        found.start()
        for found in re.finditer(rf"(?<![=:({{'\"\w/@.-]){shape}", text)
        if found.start() > first.end()
        and (not leveled or re.match(rf"\W?.{{0,40}}?{layouts.LEVEL}", text[found.end() : found.end() + _LEVEL_NEAR]))
    ]
    if not places or (not leveled and len(places) < 2):
        return [text]
    starts = [0, *places[:_MOST_CUT]]
    return [text[a:b].rstrip() for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]


def unwrapped(pieces: Sequence[Piece], begins: Callable[[str], bool]) -> list[Piece]:
    """*pieces*, of which those that were cut at a width are joined again; *begins* tells where a record does."""
    width, hard = _width(pieces, begins)
    if not width:
        return list(pieces)
    found: list[list[Piece]] = []
    for piece in pieces:
        above = found[-1][-1].text if found else ""
        is_cut = _fills(above, piece.text, width) if hard else _fits_no_more(above, piece.text, width)
        if is_cut and _goes_on(above, piece.text, begins):
            found[-1].append(piece)
        else:
            found.append([piece])
    return [one[0] if len(one) == 1 else _joined(one, lambda run: _glued(run, width, hard=hard)) for one in found]


def _goes_on(above: str, text: str, begins: Callable[[str], bool]) -> bool:
    return bool(above.strip() and text.strip()) and not _FRAME.match(text) and text[0] != "\t" and not begins(text)


def _fills(above: str, text: str, width: int) -> bool:
    return len(above) == width or (len(above) == width - 1 and text[:1] != " ")


def _fits_no_more(above: str, text: str, width: int) -> bool:
    return len(above) + 1 + len(text.split(maxsplit=1)[0] if text.strip() else "") > width


def _glued(run: Sequence[Piece], width: int, *, hard: bool) -> str:
    texts = [run[0].text]
    for above, piece in pairwise(run):
        texts.append(piece.text if hard and len(above.text) == width else " " + piece.text.strip())
    return "".join(texts)


def _width(pieces: Sequence[Piece], begins: Callable[[str], bool]) -> tuple[int, bool]:
    """The width at which lines were cut, and whether within words; 0 where they were not."""
    pairs = [
        (a.text, b.text) for a, b in pairwise(pieces) if _goes_on(a.text, b.text, begins)
    ]  # fmt: skip
    records = sum(begins(piece.text) for piece in pieces)
    if not pairs or not records:
        return 0, False
    longest = max(len(piece.text) for piece in pieces)
    common, times = Counter(len(above) for above, _ in pairs).most_common(1)[0]
    if _NARROW <= longest <= _WIDE:
        full = [(a, b) for a, b in pairs if len(a) == longest]
        within = sum(a[-1:].islower() and b[:1].islower() for a, b in full)
        ends = {a[-_END:] for a, _ in full}
        ended = sum(len(piece.text) == longest for piece in pieces) - len(full)
        fitting = sum(_fits_no_more(a, b, longest) for a, b in pairs)
        by_words = len(pairs) >= 2 and fitting * 10 >= len(pairs) * 9 and len(full) * 10 < len(pairs) * 9
        if by_words:
            return longest, False
        if within and ended <= len(full) and (len(ends) >= 2 or len(pairs) == 1):
            return longest, True
    if times >= 3 and _NARROW <= common <= _WIDE and times * 10 >= len(pairs) * 8:
        return common, True
    return 0, False
