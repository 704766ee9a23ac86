"""The software's own words, and nothing but these may stay in a copy: all others are somebody's.

They are the words by which mqlab knows files, lines, settings and metrics, those of ``vocabulary.txt`` (brokers, their
clients and tools; ``redact_vocabulary`` makes it) and of ``vocabulary_more.txt``, of Python and the operating system. A
word may be put together of them: ``GroupCoordinator``, ``1032ms``, ``sha256``.

A topic may be called ``error`` and a group ``group``. Such a name is replaced where a name is expected, and nowhere
else. Names that brokers and libraries give themselves are nobody's secret: they stay.
"""

from __future__ import annotations

import ast
import builtins
import errno
import os
import re
import signal
import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from http import HTTPStatus
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from mqlab import formats, ledgers
from mqlab.formats.registry import FORMATS

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)*")
_ESCAPES = re.compile(r"\\[A-Za-z]|\(\?P<\w+>|\(\?[a-z:=!<>-]+")
_PATTERNS = ("begins", "contains", "fatal", "unless", "where", "vague")
_SUBJECTS = ("delivery", "detectors", "groups", "kafka", "logs", "models", "mqtt", "rocketmq", "shared", "traffic")
"""Packages that ask for settings and reasons by their names."""

_GIVEN = re.compile(
    r"__\w+|_schemas|RMQ_SYS_\S*|rmq_sys_\S*|CID_\S*|SCHEDULE_TOPIC_XXXX|TBW102|SELF_TEST\w*|OFFSET_MOVED_EVENT"
    r"|BenchmarkTest|DefaultCluster|DefaultHeartBeatSyncerTopic|CLIENT_INNER_PRODUCER|TOOLS_CONSUMER|DEFAULT\w*"
    r"|FILTERSRV_CONSUMER|please_rename_unique_group_name|\$SYS(?:/.*)?|\$(?:share|queue|events|delayed)"
    r"|(?:consumer|producer|admin|adminclient|kafka-admin-client)(?:-\d+)?|console-consumer-\d+|localhost|undefined"
    r"|\[?(?:masked|hidden)\]?|anonymous|ANONYMOUS|unknown|none|null|true|false|default|-|N/A|NONE|nil|broker|all|root|auto"
    r"|(?:[\w-]+\.)*(?:apache\.org|emqx\.(?:io|com)|confluent\.io|mosquitto\.org|hivemq\.com|vernemq\.com|rabbitmq\.com"
    r"|github\.com|slf4j\.org|w3\.org|example\.(?:com|org))",
)
"""Names that brokers and libraries give themselves or everything."""
MASKS = frozenset(("masked", "hidden"))
"""What mqlab and Kafka write instead of a secret: nobody's name, also where a name is expected."""


_SHIPPED = ("vocabulary.txt", "vocabulary_more.txt")
"""What jars and manuals hold; by hand, words of moments, units, operating systems, clouds, observers and notes."""
STRUCTURE = frozenset((
    "com", "net", "org", "io", "info", "gov", "edu", "local", "localdomain", "internal", "svc", "cluster", "lan",
    "home", "corp", "intranet", "www",
))  # fmt: skip
"""Words of which everybody's domains are made: they are no name by themselves."""
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_MOMENT = re.compile(r"\d+T\d+Z?|[TZ]\d*|0x[0-9a-fA-F]{1,16}|\d+[eE]\d+|(?:\d+(?:d|h|m|s|ms|us|ns))+|[vpP]\d{1,3}|x+")
"""Moments, durations, numbers with an exponent or in hex, versions, percentiles; what was blotted out."""
_MIN_PART = 3
"""Letters of one part at least, of a word that is put together: parts of two letters make up any id."""
_MAX_NUMBERED = 15
"""Signs of a word and its number, such as ``node01``; what is longer is an id."""


@cache
def vocabulary() -> frozenset[str]:
    """All words of the software, in lower case."""
    named = [name for name in dir(builtins) if name[0].isalpha()]
    said = [os.strerror(code) for code in errno.errorcode] + [status.phrase for status in HTTPStatus]
    other = " ".join([*named, *said, *errno.errorcode.values(), *(one.name for one in signal.Signals)])
    folder = files("mqlab").joinpath("gather")
    shipped = [word for name in _SHIPPED for word in folder.joinpath(name).read_text(encoding="utf-8").split()]
    own = own_words({str(form.FORMAT.name) for form in FORMATS})
    found = (word.lower() for text in (*own, other) for word in re.findall(r"[^\W_]+", text))
    parts = (part.lower() for word in re.findall(r"[A-Za-z]+", other) for part in _PARTS.findall(word))
    return frozenset(shipped).union(found, parts)


def parts(run: str) -> list[str]:
    """What letters and digits in a row are put together of, by case and kind."""
    return _PARTS.findall(run)


def is_software(run: str) -> bool:
    """Whether letters and digits in a row are a word of the software, a number or a moment."""
    if _is_known(run) or not any(map(str.isalpha, run)) or _MOMENT.fullmatch(run):
        return True
    letters = [part for part in parts(run) if part.isalpha()]
    if any(map(str.isdigit, run)):
        return len(letters) == 1 and (len(letters[0]) == 1 or _is_known(letters[0])) and len(run) <= _MAX_NUMBERED
    long = [part for part in letters if len(part) >= _MIN_PART]
    return 2 * len(long) >= len(letters) and all(map(_is_known, letters))


def _is_known(word: str) -> bool:
    return word.lower() in vocabulary() or (len(word) == 1 and word.isascii())


def is_given(name: str) -> bool:
    """Whether brokers or libraries give this name, so that it tells nothing of anybody."""
    return name in MASKS or _GIVEN.fullmatch(name) is not None


def own_words(known: Collection[str]) -> frozenset[str]:
    """The words of the software whose files have the formats *known*, by their names."""
    modules = {str(form.__name__) for form in FORMATS if form.FORMAT.name in known}  # type: ignore[attr-defined]
    return frozenset().union(_shared(), *(_words_of(name) for name in sorted(modules)))


@cache
def _shared() -> frozenset[str]:
    """Words by which lines of any file and files of any format are known."""
    single = {str(form.__name__) for form in FORMATS}  # type: ignore[attr-defined]
    common = [name for package in (formats, ledgers) for name in _modules(package) if name not in single]
    asked = [name for subject in _SUBJECTS for name in _modules(import_module(f"mqlab.{subject}"))]
    named = {word for name in asked for text in _texts(name) if " " not in text for word in _spelled(text)}
    errors = tomllib.loads(files("mqlab").joinpath("known_errors.toml").read_text(encoding="utf-8"))
    told = {word for entry in errors.values() for key in _PATTERNS for word in _spelled(str(entry.get(key, "")))}
    return frozenset().union(named, told, *(_words_of(name) for name in common))


@cache
def _words_of(name: str) -> frozenset[str]:
    return frozenset(word for text in _texts(name) for word in _spelled(text))


def _modules(package: ModuleType) -> list[str]:
    return [f"{package.__name__}.{module.name}" for module in iter_modules(package.__path__)]


def _texts(name: str) -> Iterator[str]:
    """The texts that stand in a module, without those that explain it."""
    found = find_spec(name)
    waiting: list[object] = [ast.parse(Path(str(found and found.origin)).read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield node.value
        elif isinstance(node, ast.AST) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            waiting.extend(vars(node).values())


def _spelled(text: str) -> Iterator[str]:
    for found in _WORD.findall(_ESCAPES.sub(" ", text)):
        yield found
        yield from re.findall(r"[A-Za-z][A-Za-z0-9]*", found)
