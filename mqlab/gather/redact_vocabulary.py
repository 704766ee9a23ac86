"""Makes ``vocabulary.txt``: the words that brokers, their clients and tools are made of and write.

``python -m mqlab.gather.redact_vocabulary NAMES FILE...`` reads jars as Maven Central has them (the names of classes
and packages, and the texts in their constant pools) and texts (manuals, and what ``strings`` finds in a program).
NAMES is a folder with the census lists of the package ``names`` of PyPI: a first name or a frequent surname is no word
of the software unless it stands in ``WORDS_TOO``.
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_MIN_CLASSES = 2
"""Classes, or lines of a text, that a word stands in: one alone may hold the bytes of a descriptor, read as letters."""
_SHORT = 3
_MIN_CLASSES_SHORT = 5
"""The same for words of three letters, which such bytes spell more often."""
_LONGEST_WORD = 24
"""Letters of a word; longer ones are whole sentences in camel case."""
_IDENTIFIER = re.compile(r"[a-z]+[A-Z][A-Za-z]{2,60}")
_LONGEST_NAME = 60
"""Letters of a text without a space; what is longer is encoded."""
_JOINTS = "\1\2\t\n\r"
"""Places of values in a text that is put together, and ends of lines."""
_FREQUENT = 3000
"""Surnames, of the most frequent first."""
_CONSTANT_BYTES = {
    3: 5,
    4: 5,
    5: 9,
    6: 9,
    7: 3,
    8: 3,
    9: 5,
    10: 5,
    11: 5,
    12: 5,
    15: 4,
    16: 3,
    17: 5,
    18: 5,
    19: 3,
    20: 3,
}
WORDS_TOO = frozenset((
    "alpha", "an", "bean", "best", "block", "blocker", "branch", "call", "case", "cloud", "colon", "conn",
    "cross", "day", "del", "delta", "do", "don", "dot", "driver", "early", "echo", "else", "field", "fields",
    "free", "grant", "head", "high", "holder", "hook", "in", "ina", "jackson", "key", "keys", "kip", "kraft",
    "lang", "lean", "len", "link", "long", "major", "manual", "many", "mark", "max", "may", "means", "meta",
    "min", "miss", "mock", "my", "na", "numbers", "ok", "page", "parent", "ping", "pool", "post", "power",
    "quick", "read", "ring", "root", "sample", "see", "self", "sha", "shell", "short", "shorter", "singleton",
    "small", "so", "soon", "spring", "still", "tiny", "un", "val", "wall", "way", "will",
))  # fmt: skip
"""Names of people that are words, too."""


def words_of(source: Path) -> Iterator[set[str]]:
    """The words of each class in *source*, or of each line of a text, in lower case."""
    if source.suffix != ".jar":
        yield from ({word.lower() for word in _words(line)} for line in source.read_text(errors="replace").splitlines())
        return
    with zipfile.ZipFile(source) as archive:
        for name in archive.namelist():
            if name.endswith(".class") and not name.startswith("META-INF"):
                path = re.sub(r"\$\d+", "", name.removesuffix(".class"))
                texts, named = _texts(archive.read(name))
                whole = {word.lower() for text in (path, *texts) for word in _words(text)}
                yield whole | {part.lower() for one in named for part in _CAMEL.findall(one)}


def _words(text: str) -> Iterator[str]:
    for run in re.findall(r"[A-Za-z]+", text):
        yield from (run, *_CAMEL.findall(run))


def _texts(code: bytes) -> tuple[list[str], list[str]]:
    """The texts in the constant pool of a class, and what its fields and methods are called."""
    count, at, known = int.from_bytes(code[8:10]), 10, dict[int, str]()
    wanted: set[int] = set()
    number = 1
    while number < count:
        tag = code[at]
        if tag == 1:
            end = at + 3 + int.from_bytes(code[at + 1 : at + 3])
            known[number] = code[at + 3 : end].decode("utf-8", "replace")
            at = end
            number += 1
            continue
        if tag == 8:
            wanted.add(int.from_bytes(code[at + 1 : at + 3]))
        at += _CONSTANT_BYTES[tag]
        number += 2 if tag in (5, 6) else 1
    texts = [text for number, text in known.items() if _is_message(text, number in wanted)]
    return texts, [text for text in known.values() if _IDENTIFIER.fullmatch(text)]


def _is_message(text: str, is_constant: bool) -> bool:
    """Whether a person wrote this text: no descriptor, no signature of Scala, no encoded bytes."""
    printed = all(sign in _JOINTS or " " <= sign <= "~" for sign in text)
    return printed and (" " in text or "\x01" in text or (is_constant and len(text) <= _LONGEST_NAME))


def _people(folder: Path) -> set[str]:
    """First names and frequent surnames."""
    lists = [(folder / f"dist.{kind}").read_text().split("\n") for kind in ("female.first", "male.first", "all.last")]
    told = [*lists[0], *lists[1], *lists[2][:_FREQUENT]]
    return {line.split()[0].lower() for line in told if line.strip()} - WORDS_TOO


def main(arguments: list[str]) -> None:
    """Print the words of all sources, one a line."""
    people = _people(Path(arguments[0]))
    counts = Counter(word for source in arguments[1:] for words in words_of(Path(source)) for word in words)
    kept = [word for word, classes in sorted(counts.items()) if _is_kept(word, classes) and word not in people]
    sys.stdout.write("\n".join([*kept, ""]))


def _is_kept(word: str, classes: int) -> bool:
    least = _MIN_CLASSES_SHORT if len(word) <= _SHORT else _MIN_CLASSES
    return 2 <= len(word) <= _LONGEST_WORD and classes >= least


if __name__ == "__main__":
    main(sys.argv[1:])
