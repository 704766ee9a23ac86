"""Formats of plug-ins, held so that none of them can break a reading.

Whatever such a module does, every line is answered once: where it raises, or gives a row that its table cannot hold,
the lines that it has not answered are not understood, and the source says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from mqlab import plugins
from mqlab.errors import PluginError
from mqlab.factors import factors
from mqlab.formats.base import About, Data, Head, Item, Items, Line, Lines, Noise, Reject, Signature, Spec, regex
from mqlab.sources import Reading
from mqlab.tables import ASSIGNMENTS, CLIENTS, EVENTS, METRICS, POSITIONS, SETTINGS, VOLUME, Table

_ALLOWED = (EVENTS, POSITIONS, CLIENTS, ASSIGNMENTS, METRICS, SETTINGS, VOLUME)
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "bigint": (int,), "int": (int,), "double": (float, int), "boolean": (bool,), "timestamp": (int,),
    "map<string,string>": (dict,),
}  # fmt: skip


class Foreign:
    """A format of a plug-in, as every other format."""

    SIGNATURES: tuple[Signature, ...] = ()

    def __init__(self, module: ModuleType) -> None:
        """Take what the *module* offers.

        Raises:
            PluginError: it is no format.
        """
        self.__name__, self.__doc__, self._module = module.__name__, module.__doc__, module
        self.place = str(module.__file__)
        if because := _unfit(module):
            raise PluginError(self.place, because)
        self.FORMAT: Spec = module.FORMAT
        if self.FORMAT.reading is Reading.LOG:
            self.SIGNATURES = tuple(module.SIGNATURES)
        self.failed: str | None = None
        """Why the last source that was read was not read to its end."""

    def recognise(self, head: Head) -> bool:
        """True when the content is this format's; one that raises knows nothing."""
        try:
            return bool(self._module.recognise(head))
        except Exception:  # somebody else's code
            return False

    def parse(self, lines: Lines, about: About) -> Items:
        """What each line is: as the module says, as far as it says it."""
        self.failed, waiting = None, dict[int, Line]()

        def given() -> Iterator[Line]:
            for line in lines:
                waiting[line.number] = line
                yield line

        try:
            for item in self._module.parse(given(), about):
                _ensure_fits(item, waiting)
                del waiting[item.line.number]
                yield item
        except Exception as error:
            where, said = plugins.cause(error, self.place)
            self.failed = f"The format {self.FORMAT.name} of a plug-in failed: {said} ({where})."
        for line in [*waiting.values(), *lines]:
            yield Reject(line)


def _ensure_fits(item: Item, waiting: Mapping[int, Line]) -> None:
    """Nothing, where *item* answers a line that waits, with rows that their tables hold.

    Raises:
        ValueError: it does not.
    """
    if not isinstance(item, Data | Noise | Reject) or item.line.number not in waiting:
        raise ValueError(f"it returned {item!r:.80}, which does not belong to a line that it was given")
    for row in item.rows if isinstance(item, Data) else ():
        columns = dict(row.table.columns)
        for name, value in row.values.items():
            if name not in columns:
                raise ValueError(f"{row.table.name} has no column {name}")
            if value is not None and not isinstance(value, _TYPES[columns[name]]):
                raise ValueError(f"{name} of {row.table.name} must be {columns[name]}, not {value!r:.40}")


def _unfit(module: ModuleType) -> str | None:
    """Why *module* is no format, None where it is one."""
    spec: Any = getattr(module, "FORMAT", None)
    if not isinstance(spec, Spec):
        return "it has no FORMAT = Spec(…) (mqlab.formats.base)"
    if not re.fullmatch("[a-z0-9-]+", spec.name):
        return f"the name of its format, {spec.name!r}, must be small letters, digits and dashes"
    if not callable(getattr(module, "recognise", None)):
        return "it has no function recognise(head)"
    if other := [table for table in spec.tables if table not in _ALLOWED]:
        names = ", ".join(table.name if isinstance(table, Table) else str(table) for table in other)
        return f"a format of a plug-in cannot fill {names}; a ledger is read by --ledger MAP.TOML (docs/ledgers.md)"
    if spec.reading is Reading.LOG:
        return _unfit_signatures(getattr(module, "SIGNATURES", None), spec)
    if spec.reading not in (Reading.TABLE, Reading.DOCUMENT) or not callable(getattr(module, "parse", None)):
        return "it is read as a TABLE or DOCUMENT by a function parse(lines, about), or as a LOG by SIGNATURES"
    return None


def _unfit_signatures(signatures: Any, spec: Spec) -> str | None:
    if not isinstance(signatures, tuple) or not all(isinstance(one, Signature) for one in signatures):
        return "a LOG needs SIGNATURES, a tuple of Signature(…) (mqlab.formats.base)"
    for one in signatures:
        if one.only or not (one.begins or one.contains):
            return f"the signature {one.kind} needs begins or contains, and cannot be `only`"
        for pattern in filter(None, (one.begins, one.contains, one.also, one.rare, one.needs, spec.layout)):
            try:
                groups = regex(pattern).groupindex
            except re.error as error:
                return f"a regex of {one.kind} is none: {error} in {pattern!r}"
            known = {*EVENTS.names, "broker", "entries", "dotted"}
            if other := sorted(name for name in groups if name.rstrip("0123456789") not in known):
                return f"the signature {one.kind} names {', '.join(other)}, which are not columns of EVENTS"
        if not factors(one.rare or one.begins or one.contains):
            return f"the signature {one.kind} holds no word by which its lines could be found"
    return None


def formats() -> tuple[Foreign, ...]:
    """The formats of the plug-ins in force."""
    return tuple(Foreign(module) for module in plugins.modules(plugins.FORMATS))
