"""What ``mqlab plugin check`` tries: that a plug-in tells what it should, keeps quiet otherwise, and says enough.

The cases stand in ``samples/cases.toml`` of the plug-in, one table each, beside the files that they name::

    ["an outbox that only grows"]
    file = "stuck.log"                  # or files = […], or text = \"\"\"…\"\"\"
    format = "relay-log"                # what it is recognised as
    rows = [{ table = "events", kind = "outbox-holds", node = "relay-2", times = 5 }]
    found = "outbox-stuck"              # the class that is found …
    measures = { payments = 5120 }      # … with these numbers
    quiet = []                          # classes that are not
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path
from typing import Any

from mqlab import plugins
from mqlab.cache import workspace
from mqlab.catalogue import INCIDENTS
from mqlab.detectors import foreign as rules
from mqlab.diagnosis import Diagnosis
from mqlab.errors import MqlabError, PluginError
from mqlab.formats import foreign, log_events
from mqlab.formats.base import Head
from mqlab.formats.signatures import SIGNATURES
from mqlab.known_errors import KnownError, known_errors
from mqlab.material.recognition import selected
from mqlab.plugin_check import here
from mqlab.plugin_faults import taken
from mqlab.tables import EVENTS, TABLES
from mqlab.verdict import diagnose

CASES = "cases.toml"
_TEXTS = ("what", "proves", "looks_like", "mitigate", "fix", "verify")


@dataclass(frozen=True)
class Tried:
    """One thing that was tried, and what was wrong with it; nothing where it holds."""

    what: str
    wrong: str = ""


@dataclass(frozen=True)
class Case:
    """One case of ``cases.toml``."""

    name: str
    files: tuple[str, ...] = ()
    text: str = ""
    format: str = ""
    rows: tuple[Mapping[str, Any], ...] = ()
    found: str = ""
    measures: Mapping[str, float] = field(default_factory=dict)
    quiet: tuple[str, ...] = ()
    not_understood: int = 0


def check(folder: str) -> list[Tried]:
    """All that can be tried of the plug-in *folder*, in the order in which it is best repaired.

    Raises:
        PluginError: it cannot be used at all, or its cases cannot be read.
    """
    (plugin,) = taken([folder])
    cases = _cases(Path(plugin.folder, plugins.SAMPLES))
    return [
        *(_said(form.__doc__, f"format {form.FORMAT.name}") for form in foreign.formats()),
        *(_said(rule.__doc__, f"rule {rule.INCIDENT}", "Fires:", "Quiet:") for rule in rules.rules()),
        *map(_texts, plugins.tables(plugins.CATALOGUE)),
        *(one for name in plugins.tables(plugins.KNOWN_ERRORS) for one in _lines(known_errors()[name])),
        *_leaves_alone(),
        *(_tried(case, Path(plugin.folder, plugins.SAMPLES)) for case in cases),
        *_covered(cases),
    ]


def _cases(samples: Path) -> list[Case]:
    place = samples / CASES
    try:
        entries = tomllib.loads(place.read_text(encoding="utf-8"))
        return [_case(name, entry) for name, entry in entries.items()]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise PluginError(str(place), str(error).removeprefix("Case.__init__() ")) from error


def _case(name: str, entry: Mapping[str, Any]) -> Case:
    files = (*entry.get("files", ()), *([entry["file"]] if "file" in entry else []))
    lists = {"rows": tuple(entry.get("rows", ())), "quiet": tuple(entry.get("quiet", ()))}
    return Case(name, files, **{key: value for key, value in entry.items() if key not in ("file", "files")} | lists)


def _said(text: str | None, what: str, *words: str) -> Tried:
    missing = [word for word in words if word not in (text or "")]
    wrong = "its module says nothing of itself" if not (text or "").strip() else ""
    return Tried(
        f"{what} says what it is", wrong or (f"its docstring lacks {' and '.join(missing)}" if missing else "")
    )


def _texts(slug: str) -> Tried:
    incident = INCIDENTS[slug]
    empty = [name for name in _TEXTS if not str(getattr(incident, name)).strip()]
    return Tried(f"class {slug} is described", f"{', '.join(empty)} is empty" if empty else "")


def _lines(error: KnownError) -> Iterator[Tried]:
    """The sample of a known error is it, and its look-alike is not."""
    look_alike = plugins.tables(plugins.KNOWN_ERRORS)[error.name].get("look_alike", "")
    yield Tried(
        f"known error {error.name} tells its sample",
        "" if _tells(error, error.sample) else f"the sample is {_kind(error.sample) or 'no line that mqlab knows'}",
    )
    wrong = "it matches that line, too" if _tells(error, look_alike) else ""
    yield Tried(
        f"known error {error.name} leaves its look-alike alone",
        wrong if look_alike else "it has no look_alike: a line that resembles it and means something else",
    )


def _kind(line: str) -> str:
    found = selected(line)
    return SIGNATURES[found.number].kind if found else ""


def _tells(error: KnownError, line: str) -> bool:
    found = selected(line) if line else None
    events = [row.values for row in log_events.rows(line, found) if row.table is EVENTS] if found else []
    return any(one["kind"] == error.kind and error.says(one.get("reason"), line) for one in events)


def _leaves_alone() -> Iterator[Tried]:
    """The lines that mqlab knows by itself stay what they are, and files of others are not taken."""
    named = plugins.in_force()
    plugins.use(())
    before = {error.sample: _kind(error.sample) for error in known_errors().values()}
    plugins.use(named)
    other = [line for line, kind in before.items() if _kind(line) != kind]
    yield Tried("mqlab's own lines stay what they are", f"{_kind(other[0])} takes: {other[0]:.160}" if other else "")
    for form in foreign.formats():
        taken = [line for line in before if form.recognise(Head("server.log", f"{line}\n" * 3, 3 * len(line)))]
        yield Tried(
            f"format {form.FORMAT.name} takes no file of another's", f"it takes: {taken[0]:.160}" if taken else ""
        )


def _tried(case: Case, samples: Path) -> Tried:
    what = f"case {case.name}"
    try:
        with workspace.scratch() as folder:
            files = [samples / file for file in case.files]
            if case.text:
                files.append(folder / "sample.log")
                files[-1].write_text(case.text, encoding="utf-8")
            sources, rows, facts = here.read(files, folder / "scratch")
            found = [row for table in rows if table in TABLES for row in _named(rows[table].to_pylist(), table.name)]
            problems = [one.problem for one in sources if one.problem]
            formats = sorted({one.format for one in sources})
            unknown = sum(one.rejected for one in facts.coverage)
            wrong = [
                *problems,
                *(
                    [f"it is {', '.join(formats)}, not {case.format}"]
                    if case.format and formats != [case.format]
                    else []
                ),
                *([f"{unknown} lines are not understood"] if unknown != case.not_understood else []),
                *filter(None, (_counted(wanted, found) for wanted in case.rows)),
                *_concluded(case, diagnose(facts)),
            ]
    except MqlabError as error:
        wrong = [str(error)]
    return Tried(what, "; ".join(wrong))


def _named(rows: Sequence[Mapping[str, Any]], table: str) -> list[Mapping[str, Any]]:
    return [{**row, "table": table} for row in rows]


def _counted(wanted: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """What is wrong with the number of rows that are as *wanted*."""
    like = {name: value for name, value in wanted.items() if name != "times"}
    count = sum(all(_same(row.get(name), value) for name, value in like.items()) for row in rows)
    times = wanted.get("times")
    if count and times in (None, count):
        return ""
    told = ", ".join(f"{name} {value}" for name, value in like.items())
    return f"{count} rows with {told}" + (f", not {times}" if times is not None else "")


def _same(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, int | float) and isinstance(value, int | float):
        return isclose(value, wanted, rel_tol=1e-6)
    return bool(value == wanted)


def _concluded(case: Case, diagnosis: Diagnosis) -> Iterator[str]:
    """What is wrong with the findings."""
    by_class = {finding.incident: finding for finding in reversed(diagnosis.findings)}
    for slug in case.quiet:
        if slug in by_class:
            yield f"{slug} is found: {by_class[slug].statement}"
    if not case.found:
        return
    if case.found not in by_class:
        why = {one.incident: f", not checked: {'; '.join(one.missing)}" for one in diagnosis.not_checked}
        because = {one.incident: f", rejected: {one.because}" for one in diagnosis.rejected}
        yield f"{case.found} is not found" + (why | because).get(case.found, ", clear")
        return
    for name, value in case.measures.items():
        measured = by_class[case.found].measures.get(name)
        if not _same(measured, value):
            yield f"{name} of {case.found} is {measured}, not {value}"


def _covered(cases: Sequence[Case]) -> Iterator[Tried]:
    """Every format, rule and class has its cases."""
    asked: list[tuple[str, str, Callable[[Case], bool]]] = []
    for form in foreign.formats():
        name = form.FORMAT.name
        asked.append((f"format {name} has a case", f'none with format = "{name}"', lambda c, n=name: c.format == n))  # type: ignore[misc]
    for slug in plugins.tables(plugins.CATALOGUE):
        asked.append((f"class {slug} has a case", f'none with found = "{slug}"', lambda c, s=slug: c.found == s))  # type: ignore[misc]
        quiet = f'none with quiet = ["{slug}"]: a sample that resembles it'
        asked.append((f"class {slug} has a look-alike", quiet, lambda c, s=slug: s in c.quiet))  # type: ignore[misc]
    for what, wrong, is_so in asked:
        yield Tried(what, "" if any(map(is_so, cases)) else f"{wrong} in {plugins.SAMPLES}/{CASES}")
