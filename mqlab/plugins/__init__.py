"""Plug-ins: formats, rules, classes and known errors of a team's own, named by ``--plugins`` or ``$MQLAB_PLUGINS``.

A plug-in is a folder, or a package that Python finds; docs/plugins.md shows one::

    relay/
      formats/relay_log.py        a module for each format
      detectors/outbox_stuck.py   a module for each rule
      catalogue.toml  known_errors.toml  commands.toml  events.toml
      samples/cases.toml          what ``mqlab plugin check`` tries

It is code, and runs with the rights of whoever names it; nothing is loaded that was not named. Its texts are read once
and go to Spark's workers with each task, so that they hold what the driver holds, wherever they run. The listings of
mqlab (``Listed``, ``Named``) are what it has itself and what the plug-ins in force add to it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
import tomllib
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from importlib.abc import ExecutionLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

from mqlab.errors import PluginError

VARIABLE = "MQLAB_PLUGINS"
FORMATS, DETECTORS, SAMPLES = "formats", "detectors", "samples"
CATALOGUE, KNOWN_ERRORS, COMMANDS, EVENTS = "catalogue.toml", "known_errors.toml", "commands.toml", "events.toml"
_TABLES = (CATALOGUE, KNOWN_ERRORS, COMMANDS, EVENTS)
_NO_ROWS = (f"{DETECTORS}/", CATALOGUE, COMMANDS, EVENTS)
"""What has no part in rows: a change there reads nothing anew."""
_MOST = 500
"""Files of a plug-in; a folder with more is something else."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Plugin:
    """The texts of one plug-in."""

    name: str
    folder: str
    files: tuple[tuple[str, str], ...]
    """Path below the folder, and text, of its modules and tables."""

    @property
    def package(self) -> str:
        """The name under which its modules are imported: another one after every change."""
        return f"mqlab_plugin_{re.sub('[^A-Za-z0-9]', '_', self.name)}_{_digest(self.files)}"

    def place(self, file: str, line: int | None = None) -> str:
        """Where one of its files is, for people."""
        return f"{self.folder}/{file}" + (f", line {line}" if line else "")


def named(given: Sequence[str]) -> tuple[str, ...]:
    """The plug-ins that were *given*, else those of ``$MQLAB_PLUGINS``."""
    return tuple(given) or tuple(filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)))


def read(name: str) -> Plugin:
    """The plug-in in the folder or package *name*.

    Raises:
        PluginError: there is none, or it cannot be read.
    """
    folder = Path(name).expanduser()
    folder = folder.absolute() if folder.is_dir() else _package(name)
    found = [file for file in sorted(folder.rglob("*.py")) if _is_own(file.relative_to(folder))]
    found += [folder / table for table in _TABLES if (folder / table).is_file()]
    if not any(file.parent.name in (FORMATS, DETECTORS) or file.name in _TABLES for file in found):
        raise PluginError(str(folder), f"it has no {FORMATS}/, no {DETECTORS}/, no {CATALOGUE} and no {KNOWN_ERRORS}")
    if len(found) > _MOST:
        raise PluginError(str(folder), f"it has {len(found)} files; name the folder of the plug-in itself")
    texts = []
    for file in found:
        try:
            texts.append((file.relative_to(folder).as_posix(), file.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            raise PluginError(str(file), f"it cannot be read ({error})") from error
    return Plugin(folder.name, str(folder), tuple(texts))


def _is_own(file: Path) -> bool:
    return file.parts[0] != SAMPLES and not any(part.startswith((".", "__pycache__")) for part in file.parts)


def _package(name: str) -> Path:
    """The folder of an importable package."""
    found = None
    if re.fullmatch(r"\w+(\.\w+)*", name):
        try:
            found = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            found = None
    places = list(found.submodule_search_locations or ()) if found else []
    if not places or not Path(places[0]).is_dir():
        raise PluginError(name, "there is no such folder, and no Python package of this name")
    return Path(places[0])


_in_force: tuple[Plugin, ...] = ()
_forget: list[Callable[[], None]] = []


def in_force() -> tuple[Plugin, ...]:
    """The plug-ins that the listings of this process hold."""
    return _in_force


def use(plugins: Sequence[Plugin]) -> None:
    """Let the listings of this process hold these *plugins*, and no others."""
    global _in_force
    if tuple(plugins) != _in_force:
        _in_force = tuple(plugins)
        for forget in _forget:
            forget()


def remembered(function: Callable[P, T]) -> Callable[P, T]:
    """*function*, which works each answer out once for the plug-ins in force."""
    kept = cache(function)
    _forget.append(kept.cache_clear)

    @wraps(function)
    def answer(*args: P.args, **named: P.kwargs) -> T:
        return kept(*args, **named)  # type: ignore[arg-type]

    return answer


class Listed(Sequence[T]):
    """A tuple that is made anew where other plug-ins come into force."""

    def __init__(self, make: Callable[[], tuple[T, ...]]) -> None:
        self._all = remembered(make)

    def __getitem__(self, place: Any) -> Any:
        return self._all()[place]

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[T]:
        return iter(self._all())


class Named(Mapping[str, T]):
    """A mapping that is made anew where other plug-ins come into force."""

    def __init__(self, make: Callable[[], Mapping[str, T]]) -> None:
        self._all = remembered(make)

    def __getitem__(self, name: str) -> T:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


def version() -> str:
    """What rows of the material depend on beside mqlab's own code; empty without plug-ins."""
    own = [pair for plugin in _in_force for pair in plugin.files if not pair[0].startswith(_NO_ROWS)]
    return f"-{_digest(tuple(own))}" if own else ""


def _digest(files: tuple[tuple[str, str], ...]) -> str:
    return hashlib.sha256(repr(files).encode("utf-8", "surrogatepass")).hexdigest()[:12]


@remembered
def modules(kind: str) -> tuple[ModuleType, ...]:
    """The modules in the folders *kind* of the plug-ins, by name.

    Raises:
        PluginError: one of them cannot be imported.
    """
    return tuple(
        _imported(plugin, file)
        for plugin in _in_force
        for file, _ in plugin.files
        if PurePosixPath(file).parts[:-1] == (kind,) and not PurePosixPath(file).name.startswith("_")
    )


@remembered
def tables(name: str) -> Mapping[str, Any]:
    """The entries of the tables called *name* of all plug-ins.

    Raises:
        PluginError: one of them is no TOML, or two have the same entry.
    """
    found: dict[str, Any] = {}
    for plugin in _in_force:
        text = dict(plugin.files).get(name, "")
        try:
            entries = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise PluginError(plugin.place(name), f"it is not valid TOML: {error}") from error
        if twice := sorted(found.keys() & entries.keys()):
            raise PluginError(place(name, twice[0]), f"two plug-ins have an entry {twice[0]}")
        found |= entries
    return found


def place(table: str, entry: str) -> str:
    """Where the *entry* of a table of the plug-ins begins."""
    for plugin in _in_force:
        for number, line in enumerate(dict(plugin.files).get(table, "").splitlines(), 1):
            if re.match(rf"\[?[\"']?{re.escape(entry)}[\"']?(?:\]| *=)", line):
                return plugin.place(table, number)
    return table


def cause(error: BaseException, folder: str) -> tuple[str, str]:
    """The place below *folder* at which an exception was raised, and what it says."""
    said = f"{type(error).__name__}: {error}".splitlines()[0].rstrip(".")
    if isinstance(error, SyntaxError) and error.filename and error.filename.startswith(folder):
        return f"{error.filename}, line {error.lineno}", f"{type(error).__name__}: {error.msg}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(folder)]
    return (f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else folder), said


def _imported(plugin: Plugin, file: str) -> ModuleType:
    _finder.know(plugin)
    name = f"{plugin.package}.{file.removesuffix('.py').replace('/', '.')}"
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        where, said = cause(error, plugin.folder)
        raise PluginError(
            where if where != plugin.folder else plugin.place(file), f"it cannot be imported: {said}"
        ) from error


class _Text(ExecutionLoader):
    """Makes a module of a text that was read before."""

    def __init__(self, text: str, file: str, *, package: bool) -> None:
        self._text, self._file, self._package = text, file, package

    def get_source(self, _: str) -> str:
        return self._text

    def get_filename(self, _: str) -> str:
        return self._file

    def is_package(self, _: str) -> bool:
        return self._package


class _Finder(MetaPathFinder):
    """Finds the modules of the plug-ins that were named in this process."""

    def __init__(self) -> None:
        self._known: dict[str, _Text] = {}

    def know(self, plugin: Plugin) -> None:
        """Find the modules of *plugin* from now on."""
        if plugin.package in self._known:
            return
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)
        for file, text in plugin.files:
            if file in _TABLES:
                continue
            parts = [plugin.package, *PurePosixPath(file).with_suffix("").parts]
            for depth in range(1, len(parts)):
                folder = "/".join((plugin.folder, *parts[1:depth]))
                self._known.setdefault(".".join(parts[:depth]), _Text("", f"{folder}/__init__.py", package=True))
            is_folder = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_folder else parts)
            self._known[name] = _Text(text, f"{plugin.folder}/{file}", package=is_folder)

    def find_spec(self, fullname: str, _: Sequence[str] | None, __: ModuleType | None = None) -> ModuleSpec | None:
        known = self._known.get(fullname)
        return importlib.util.spec_from_loader(fullname, known) if known else None


_finder = _Finder()
