"""What messages carried, blotted out: what a line prints as payload, value or body, and columns of such names.

As many bytes stay, of which each is an ``x``. Numbers and nulls stay, and so does what the names of payloads stand for
elsewhere: values of settings and metrics, data of a document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mqlab.ledgers.words import PAYLOADS

_SHOWN = re.compile(rb"(?i)(?<![\w.])\\?[\"']?(?P<key>" + PAYLOADS.encode() + rb")\\?[\"']?[ \t]?(?:=>|[=:])[ \t]?")
_QUOTED = re.compile(rb"\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\\"(?:[^\"\\]|\\[^\"])*\\\"")
_BARE = re.compile(rb"[^\r]{0,65536}?(?=,[ \t]?\"?[A-Za-z_]+\"?(?::|[ \t]?=)|[ \t]+[A-Za-z_]+=|\r|\Z)")
_OPEN, _CLOSED = b"{[(", b"}])"
_MARKS = re.compile(rb"\"(?:[^\"\\]|\\.)*\"|[{}\[\]()]")
_LEAF = re.compile(
    rb"(?<![\w\"])(?:true|false|null)(?![\w\"])|(?P<number>(?<![\w\"])-?\d[\d.]*(?![\w\"]))|(?P<word>[^\s{}\[\]:,=\"'\\()]+)"
)
_SURE = re.compile(rb"(?i)(?:.*_)?(?:payload|body)|(?:record|message|msg)_?\w+")
"""Names of payloads that mean nothing else."""
_RECORD = re.compile(
    rb"(?i)(?<![a-z])(?:(?:topic|partition|offset|qos|key|msg_?id|message_?id|correlation_?id|seq)\\?[\"']?"
    rb"[ \t]?(?:=>|[=:])"
    rb"|(?:sent|received|consumed|produced|published|publish|publishing|processed|handled|record|message|msg)(?![a-z]))"
    rb"|-\d+@\d+"
)
"""What a line that prints a message says besides."""
_SETTING = re.compile(
    rb"(?i)(?<![a-z])(?:name|config|setting|sensitive|synonyms|metric|resource\w*)\\?[\"']?[ \t]?[=:]|\$SYS/"
)
_NO_PAYLOAD = re.compile(rb"\$SYS/|key: (?:\{\"(?:type|version)\"|(?:offset_commit|group_metadata|metadata|offset)::)")
_PRINTED = re.compile(
    rb"(?m)^((?:CreateTime|LogAppendTime|NoTimestampType):-?\d+|NO_TIMESTAMP|Partition:\d+)\t([^\n]*)$"
)
"""What Kafka's console consumer prints of a record: properties, headers, key, value."""
_PROPERTY = re.compile(rb"(?:Partition|Offset|Delivery):-?\d+|NO_HEADERS|null")
_NUMBER = re.compile(rb"[\s\"'\\]*-?\d[\d.eE+-]*[\s\"'\\]*")
_NOTHING = re.compile(rb"(?i)null|<delete>|\[masked\].*|none|true|false|x*|\(?\d+ bytes\)?.*")
_SEPARATORS = (b",", b";", b"\t", b"|")
_NEAR = 500
"""Bytes before and behind a value that say what it is."""
_LONGEST = 1 << 16
"""Bytes of an object that is looked at as one."""
_LONGEST_HEAD = 4096
"""Bytes of a line that may be the names of columns."""


def without_payloads(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The *pieces* of one file, in whole lines, without what messages carried."""
    columns: re.Pattern[bytes] | None = None
    for number, piece in enumerate(pieces):
        if not number:
            columns = _columns(piece[:_LONGEST_HEAD].partition(b"\n")[0])
        if columns:
            head, end, piece = piece.partition(b"\n") if not number else (b"", b"", piece)
            yield head + end + columns.sub(_blotted, piece)
        else:
            yield _unprinted(piece)


def _unprinted(piece: bytes) -> bytes:
    if b"\t" in piece:
        piece = _PRINTED.sub(_unvalued, piece)
    if not _SHOWN.search(piece):
        return piece
    return b"\n".join(map(_line, piece.split(b"\n")))


def _line(line: bytes) -> bytes:
    if _NO_PAYLOAD.search(line):
        return line
    parts, done = [], 0
    while found := _SHOWN.search(line, done):
        end = _end(line, found.end())
        before, behind = line[max(0, found.start() - _NEAR) : found.start()], line[end : end + _NEAR]
        record = not _SETTING.search(before) and (_RECORD.search(before) or _RECORD.search(behind))
        shown = record or _SURE.fullmatch(found["key"])
        value = line[found.end() : end]
        parts += [line[done : found.end()], _blot(value) if shown else b""]
        done = end if shown else found.end()
    return b"".join([*parts, line[done:]])


def _end(line: bytes, begin: int) -> int:
    """Where the value ends that begins at *begin*."""
    if quoted := _QUOTED.match(line, begin):
        return quoted.end()
    depth = 0
    if line[begin : begin + 1] in (b"{", b"["):
        for mark in _MARKS.finditer(line, begin, begin + _LONGEST):
            depth += (mark[0] in _OPEN) - (mark[0] in _CLOSED)
            if not depth:
                return mark.end()
        return min(len(line), begin + _LONGEST)
    bare = _BARE.match(line, begin)
    return bare.end() if bare else len(line)


def _columns(head: bytes) -> re.Pattern[bytes] | None:
    """Where the payload stands in a row below the names of columns, if *head* is these and one is a payload's."""
    for separator in _SEPARATORS:
        names = [name.strip(b" \"'\r\xef\xbb\xbf") for name in head.split(separator)]
        places = [n for n, name in enumerate(names) if re.fullmatch(PAYLOADS, name.decode("utf-8", "replace"), re.I)]
        if len(names) > 1 and places and all(re.fullmatch(rb"[\w .-]{1,60}", name) for name in names):
            cell = rb"(?:\"(?:[^\"]|\"\")*\"|[^" + re.escape(separator) + rb"\r\n]*)"
            before = rb"(?:" + cell + re.escape(separator) + rb"){%d}" % places[0]
            return re.compile(rb"(?m)^(?P<name>" + before + rb")(?P<value>" + cell + rb")")
    return None


def _unvalued(found: re.Match[bytes]) -> bytes:
    fields = found[2].split(b"\t")
    value = fields.pop()
    return b"\t".join([found[1], *fields, value if _PROPERTY.fullmatch(value) else _blot(value)])


def _blotted(found: re.Match[bytes]) -> bytes:
    return found["name"] + _blot(found["value"])


def _blot(value: bytes) -> bytes:
    """*value* with an ``x`` for each byte within its quotes, unless it is a number or nothing."""
    bare = value.strip(b"\"'\\ \r")
    if _NUMBER.fullmatch(value) or _NOTHING.fullmatch(bare):
        return value
    if bare[:1] in (b"{", b"[") and value[:1] == bare[:1]:
        return _LEAF.sub(_leaf, value)
    begin = value.find(bare)
    return value[:begin] + b"x" * len(bare) + value[begin + len(bare) :]


def _leaf(found: re.Match[bytes]) -> bytes:
    if found["number"]:
        return re.sub(rb"\d", b"1", found[0])
    return b"x" * len(found[0]) if found["word"] else found[0]
