"""What brokers, clients and hosts say outright, with its meaning: the table ``known_errors.toml``.

A known error is a line that names the trouble itself. ``formats.known_errors`` makes signatures of the table,
``detectors.known_errors`` counts what they select, and ``mqlab explain`` prints an entry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mqlab import plugins
from mqlab.commands import read_toml
from mqlab.errors import PluginError
from mqlab.factors import factors
from mqlab.plugins import remembered
from mqlab.plugins.entries import ensure_fits
from mqlab.words import room

say = room("known-errors")

PREFIX = "error:"
"""What the kind of an event begins with that has a pattern in the table."""


@dataclass(frozen=True, slots=True)
class KnownError:
    """One known error; see the head of ``known_errors.toml``."""

    name: str
    incident: str
    """The class that it is a sign of."""
    system: str
    software: str
    versions: str
    means: str
    causes: tuple[str, ...]
    """In the order in which they are usual."""
    check: str
    fix: str
    source: str
    sample: str
    begins: str = ""
    contains: str = ""
    needs: str = ""
    """Regex that the line must hold as well: a word of the software, where other programs print the same."""
    event: str = ""
    """The kind of the events of an older signature that say the same, where it has no pattern of its own."""
    where: str = ""
    """Regex by which some of them are told from the others: their reason and first line are searched."""
    unless: tuple[str, ...] = ()
    """Kinds of events that, before it in the same log, say that it is their consequence."""
    hints: tuple[str, ...] = ()
    """For each of the causes a regex of lines that tell it from the others."""
    now: str = ""
    """What to do first, where what the class says of it does not fit."""
    by_broker: bool = False
    """Its peer is a broker: a name server that does the same is no sign of the class."""
    fatal: bool = False
    """One line suffices."""
    vague: bool = False
    """What is said has other causes too, such as a pause of who says it: no more than a notice by itself."""

    again: float | None = None
    """Seconds within which who still meets it says it once more: silence for longer tells that it is over."""

    @property
    def kind(self) -> str:
        """The kind of its events."""
        return self.event or PREFIX + self.name

    def says(self, reason: str | None, line: str) -> bool:
        """True where an event of its kind is this error."""
        return not self.where or re.search(self.where, f"{reason or ''} {line}") is not None

    def hinted(self, lines: Iterable[str]) -> str | None:
        """The cause that most of these *lines* hint at; None where none does."""
        read = list(lines)
        hits = [sum(re.search(hint, line) is not None for line in read) for hint in self.hints]
        return self.causes[hits.index(max(hits))] if any(hits) else None

    def page(self, told: Callable[[str], str] = str) -> str:
        """A page about it: what it means, usual causes, what to check, repair; what is made of values is *told*."""
        causes = "".join(f"{number}. {cause}\n" for number, cause in enumerate(self.causes, start=1))
        return (
            f"## {self.name}\n\n{self.means}\n\n"
            f"{told(say('whose', software=self.software, versions=self.versions, incident=self.incident))}\n\n"
            f"### Usual causes\n\n{causes}\n### Check\n\n{self.check}\n\n### Fix\n\n{self.fix}\n\n"
            f"{told(say('source', source=self.source))}\n"
        )


@remembered
def known_errors() -> Mapping[str, KnownError]:
    """Every known error by its name, in the order of the table."""
    own = {name: _of_plugin(name, entry) for name, entry in plugins.tables(plugins.KNOWN_ERRORS).items()}
    return {name: _error(name, entry) for name, entry in read_toml(plugins.KNOWN_ERRORS).items()} | own


def _error(name: str, entry: Mapping[str, Any]) -> KnownError:
    lists = {key: tuple(entry.get(key, ())) for key in ("causes", "hints", "unless")}
    named = {"name": name, "incident": entry["class"], "event": entry.get("kind", "")}
    return KnownError(**{key: value for key, value in entry.items() if key not in ("class", "kind")} | lists | named)


def _of_plugin(name: str, entry: Any) -> KnownError:
    """A known error of a plug-in, whose look-alike is for its check alone.

    Raises:
        PluginError: it lacks something, or its pattern is no regex.
    """
    own = {key: value for key, value in entry.items() if key != "look_alike"} if isinstance(entry, dict) else entry
    keys = {"incident": "class", "event": "kind"}
    ensure_fits(plugins.KNOWN_ERRORS, name, own, KnownError, keys, ("name",))
    error, because = _error(name, own), ""
    if not (error.event or error.begins or error.contains):
        because = f"{name} needs begins or contains, a regex"
    for pattern in (error.begins, error.contains, error.needs, error.where):
        try:
            re.compile(pattern, re.ASCII)
        except re.error as wrong:
            because = f"a regex of {name} is none: {wrong} in {pattern!r}"
    if not (because or error.event or factors(error.begins or error.contains)):
        because = f"the regex of {name} holds no word by which its lines could be found"
    if because:
        raise PluginError(plugins.place(plugins.KNOWN_ERRORS, name), because)
    return error


_REASON = re.compile(r'(?:[\w.-]+ +\|)?\s*(?:Caused by: |Exception in thread "[^"]*" )?[\w$.]+(?:Exception|Error)\b')
"""How a line begins that names an exception, the reason of the line above it; compose names its service before."""


def is_reason(line: str) -> bool:
    """Whether *line* names an exception."""
    return _REASON.match(line) is not None


WORKS_AGAIN = "works again"
"""The fact of a finding that tells since when whoever said the error works again: then its end is no last sign."""


@remembered
def of_class(incident: str) -> Mapping[str, tuple[KnownError, ...]]:
    """The known errors that are signs of a class, by the kind of their events."""
    found: dict[str, tuple[KnownError, ...]] = {}
    for error in known_errors().values():
        if error.incident == incident:
            found[error.kind] = (*found.get(error.kind, ()), error)
    return found


@remembered
def outright() -> frozenset[str]:
    """The classes that lines name outright: those of patterns of the table."""
    return frozenset(error.incident for error in known_errors().values() if not error.event)


@remembered
def words() -> Mapping[str, str]:
    """What each kind of event means to a reader."""
    errors = {
        error.kind: say("named", name=error.name, means=error.means.rstrip(".")) for error in known_errors().values()
    }
    return {**errors, **read_toml(plugins.EVENTS), **plugins.tables(plugins.EVENTS)}
