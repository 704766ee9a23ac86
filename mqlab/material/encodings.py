"""Encodings of text, told by content: UTF-8 unless most of what is not ASCII is something else."""

from __future__ import annotations

import codecs
import re

_BOMS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_TOLD = 0.3
"""Of the bytes of a UTF-16 text without mark, those that are the NUL beside a letter of ASCII."""
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]")
_RUNS = re.compile(rb"[\x80-\xff]+")
_KANA = re.compile("[\u3041-\u30fe]")
_COMMON = {
    "euc_kr": re.compile(rb"[\xb0-\xc8][\xa1-\xfe]"),
    "gb18030": re.compile(rb"[\xb0-\xd7][\xa1-\xfe]|\xa3[\xa1-\xfe]|\xa1[\xa1-\xbf]"),
}
"""The commonest letters: Hangul, Chinese characters and marks of the first level. Korean fits the second, too."""
_CYRILLIC = re.compile("[\u0430-\u044f]")


def told(start: bytes) -> str | None:
    """The codec of a text by its first bytes; None for UTF-8, and for what is no text."""
    for mark, codec in _BOMS.items():
        if start.startswith(mark):
            return codec
    if b"\0" in start:
        return _wide(start)
    if start.isascii():
        return None
    foreign = len(start.translate(None, bytes(range(128))))
    letters = sum(len(letter) for letter in _LETTER.findall(start))
    if 2 * letters > foreign:
        return None
    return _byte_wise(start)


def _wide(start: bytes) -> str | None:
    if len(start) < 8 or _CONTROL.search(start.replace(b"\0", b"")):
        return None
    even, odd = start[0::2].count(0), start[1::2].count(0)
    if odd > _TOLD * len(start) and even * 20 < odd:
        return "utf-16-le"
    return "utf-16-be" if even > _TOLD * len(start) and odd * 20 < even else None


def _byte_wise(start: bytes) -> str | None:
    """The codec of one whose letters beyond ASCII are of one or two bytes; None where none fits."""
    for codec in ("shift_jis", "euc_jp"):
        kana = len(_KANA.findall(text)) if (text := _decoded(start, codec)) else 0
        if text and kana > 1 and kana * 6 > sum(ord(c) > 127 for c in text):
            return codec
    runs = _RUNS.findall(start)
    if sum(len(run) < 3 for run in runs) * 2 > len(runs):
        return "cp1252"
    cyrillic = {codec: len(_CYRILLIC.findall(_decoded(start, codec) or "")) for codec in ("cp1251", "koi8_r")}
    high = sum(map(len, runs))
    if 2 * max(cyrillic.values()) > high and any(len(run) % 2 for run in runs):
        return max(cyrillic, key=lambda codec: cyrillic[codec])
    fitting = {codec: sum(map(len, common.findall(b" ".join(runs)))) / high for codec, common in _COMMON.items()}
    return next((codec for codec, part in fitting.items() if part > 0.9 and _decoded(start, codec) is not None), None)


def _decoded(start: bytes, codec: str) -> str | None:
    """*start* as text, without a letter that its end cuts; None where it is none of this *codec*."""
    try:
        return codecs.getincrementaldecoder(codec)().decode(start)
    except UnicodeDecodeError:
        return None
