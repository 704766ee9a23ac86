"""The software's own words: what brokers, clients and their tools write, by which mqlab knows their files and lines.

A topic may be called ``error`` and a group ``group``. Such a name is renamed where a name is expected, and nowhere
else. Names that brokers and libraries give themselves are nobody's secret: they stay.
"""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
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
    r"|anonymous|ANONYMOUS|unknown|none|null|true|false|default|-|N/A|NONE|nil|broker|all|root|auto"
    r"|(?:[\w-]+\.)*(?:apache\.org|emqx\.(?:io|com)|confluent\.io|mosquitto\.org|hivemq\.com|vernemq\.com|rabbitmq\.com"
    r"|github\.com|slf4j\.org|w3\.org|example\.(?:com|org))",
)
"""Names that brokers and libraries give themselves or everything."""


def is_given(name: str) -> bool:
    """Whether brokers or libraries give this name, so that it tells nothing of anybody."""
    return _GIVEN.fullmatch(name) is not None


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
    tree = ast.parse(inspect.getsource(import_module(name)))
    explaining = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in explaining:
            yield node.value


def _spelled(text: str) -> Iterator[str]:
    for found in _WORD.findall(_ESCAPES.sub(" ", text)):
        yield found
        yield from re.findall(r"[A-Za-z][A-Za-z0-9]*", found)
