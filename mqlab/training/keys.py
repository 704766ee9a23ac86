"""Keys: what an exercise asks, what is right, and what is said to every answer; in clear, for instructors only.

A key is a TOML file (or the same as a mapping, which ``drawn`` makes of a capture and its truth). Sample::

    title = "A bridge that fills its link"
    chapter = "traffic"
    level = 2
    minutes = 20
    story = "…"
    alarm = "2026-11-21T12:21:05Z"

    [who]
    question = "Which client sends it?"
    right = "mqtt-bridge"
    because = "Its card sends 17 times what it receives."
    wrong = { report = "It only reads." }

``asked`` makes questions of its sections, with a reply to each answer that can be foreseen.
"""

from __future__ import annotations

import gzip
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from mqlab.catalogue import INCIDENTS
from mqlab.training.answers import Amount, Moment, moment_of
from mqlab.training.errors import BadKeyError

STARTS: Mapping[str, str] = {
    "producer": "a producer or publisher",
    "broker": "a broker",
    "consumer": "a consumer or subscriber",
    "network": "the network or a host",
    "dependency": "a service behind a client",
    "operator": "what somebody did on purpose: a release, a restart, a change",
    "nowhere": "nowhere: nothing is wrong",
}
POINTS: Mapping[str, int] = {
    "starts_in": 5, "since": 10, "who": 10, "mechanism": 25, "line": 20, "amount": 15, "repair": 8, "side_effect": 4,
    "verify": 3,
}  # fmt: skip
"""Of a hundred; where questions are left out, the others count for more."""


_MOST = 3000
"""Lines that are locked one by one; where more say the same, their file is the proof."""
_CONTEXT = "This line belongs to what happened, but it is not the proof that is asked for."
_CALLED = re.compile(r"capture\.lines\((['\"])(?P<file>.+?)\1, *(?P<line>\d+)")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with all its replies, before they are locked."""

    name: str
    text: str
    kind: str
    replies: Mapping[str, Mapping[str, Any]]
    """By answer: ``credit`` from 0 to 1 and ``text``."""
    options: Mapping[str, str] = field(default_factory=dict)
    unit: str = ""
    tolerance: float = 0.0
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Truth:
    """A capture, what really happened in it, and the questions about it."""

    base: Path
    incident: str
    key: Mapping[str, Any]


def read(base: Path, truth: Path, key: Path) -> Truth:
    """The truth about the capture *base*, with its key, which is TOML or YAML.

    Raises:
        BadKeyError: a file cannot be read, or lacks the class.
    """
    try:
        incident = json.loads(truth.read_text(encoding="utf-8"))["class"]
        text = key.read_text(encoding="utf-8")
        return Truth(base, incident, tomllib.loads(text) if key.suffix == ".toml" else yaml.safe_load(text))
    except (OSError, ValueError, KeyError, yaml.YAMLError) as error:
        raise BadKeyError(f"{truth} and {key} are not a truth file and its key: {error}.") from None


def asked(truth: Truth) -> list[Asked]:
    """The questions of a key, in their order.

    Raises:
        BadKeyError: a section lacks something.
    """
    made = []
    for section, make in _SECTIONS.items():
        if section in truth.key:
            try:
                made += list(make(truth, truth.key[section]))
            except KeyError as error:
                raise BadKeyError(f"The key of {truth.base.name} lacks {error} in [{section}].") from None
    return made


def _reply(text: str, credit: float = 0.0) -> dict[str, Any]:
    return {"credit": credit, "text": text}


def _around(form: Moment | Amount, wrong: Mapping[float, str]) -> dict[str, dict[str, Any]]:
    """Replies to wrong moments or numbers and to those that are as near to them as is tolerated of the right one."""
    replies = {form.cell(value): _reply(because) for value, because in wrong.items()}
    for value, because in wrong.items():
        for cell, credit in form.near(value):
            if credit == 1.0:
                replies.setdefault(cell, _reply(because))
    return replies


def _starts_in(_: Truth, part: Mapping[str, Any]) -> Iterator[Asked]:
    replies = {name: _reply(because) for name, because in part["wrong"].items()}
    options = {name: text for name, text in STARTS.items() if name in replies or name == part["right"]}
    replies[part["right"]] = _reply(part["because"], 1.0)
    yield Asked("starts_in", "Where does it start?", "choice", replies, options, hints=_hints(part))


def _since(_: Truth, part: Mapping[str, Any]) -> Iterator[Asked]:
    form = Moment(part["seconds"], "")
    replies = _around(form, {moment_of(one["at"]): one["because"] for one in part.get("wrong", ())})
    for cell, credit in form.near(moment_of(part["at"])):
        near = f"Close: it was {part['at'][11:19]} UTC. {part['because']}"
        replies[cell] = _reply(part["because"], 1.0) if credit == 1.0 else _reply(near, credit)
    yield Asked("since", part["question"], "moment", replies, tolerance=part["seconds"], hints=_hints(part))


def _who(_: Truth, part: Mapping[str, Any]) -> Iterator[Asked]:
    replies = {name: _reply(because) for name, because in part["wrong"].items()}
    replies[part["right"]] = _reply(part["because"], 1.0)
    yield Asked("who", part["question"], "choice", replies, {name: name for name in replies}, hints=_hints(part))


def _mechanism(truth: Truth, part: Mapping[str, Any]) -> Iterator[Asked]:
    replies = {slug: _reply(because) for slug, because in part["wrong"].items()}
    replies |= {slug: _reply(because, 0.5) for slug, because in part.get("partial", {}).items()}
    if truth.incident != "healthy" and "healthy" not in replies:
        benign = INCIDENTS[truth.incident].benign if truth.incident in INCIDENTS else False
        named = "Nothing has to be repaired, that is true; but what is seen has a name and a cause."
        replies["healthy"] = (
            _reply(named, 0.5)
            if benign
            else _reply("Something is wrong: look again at what the story complains about.")
        )
    replies[truth.incident] = _reply(part["because"], 1.0)
    options = {slug: f"{slug}: {INCIDENTS[slug].title}" for slug in replies if slug in INCIDENTS}
    if "healthy" in replies:
        options["healthy"] = "healthy: nothing is wrong"
    text = part.get("question", "Which mechanism is behind it?")
    yield Asked("mechanism", text, "choice", replies, options, hints=_hints(part))


def _line(truth: Truth, part: Mapping[str, Any]) -> Iterator[Asked]:
    replies: dict[str, dict[str, Any]] = {}
    for one, credit in [*((p, 1.0) for p in part["proof"]), *((n, 0.5) for n in part.get("near", ()))]:
        numbers = places(truth.base, one)
        told = _reply(one["because"], credit)
        asked_on = _reply("This is a file to look at. Which line of it?", 0.25 * credit)
        replies.setdefault(one["file"], asked_on if numbers else told)
        for number in numbers:
            replies.setdefault(f"{one['file']}:{number}", told)
    for file, number in cited(truth.key):
        if replies.get(file, {"credit": 0.0})["credit"] < 1.0:
            replies.setdefault(f"{file}:{number}", _reply(_CONTEXT, 0.25))
    text = part.get("question", "Cite a line that proves it.")
    yield Asked("line", text, "place", replies, hints=_hints(part))


def cited(key: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Files and lines that the debrief cites: what happened, and where an expert looks."""
    yield from ((entry["file"], entry["line"]) for entry in key.get("timeline", ()) if "line" in entry)
    for step in key.get("order", ()):
        yield from ((call["file"], int(call["line"])) for call in _CALLED.finditer(step["call"]))


def places(base: Path, one: Mapping[str, Any]) -> list[int]:
    """The lines that a proof names: by number, or by a text that each of them contains; none is the file as a whole."""
    if "line" in one or "contains" not in one:
        return [one["line"]] if "line" in one else []
    numbers = [number for number, line in enumerate(lines(base / one["file"]), start=1) if one["contains"] in line]
    if not numbers:
        raise BadKeyError(f"No line of {one['file']} contains {one['contains']!r}.")
    return numbers if len(numbers) <= _MOST else []


def _amount(_: Truth, part: Mapping[str, Any]) -> Iterator[Asked]:
    form = Amount(part["unit"], part["within"])
    replies = _around(form, {one["value"]: one["because"] for one in part.get("wrong", ())})
    for cell, credit in form.near(part["value"]):
        near = f"Close: it is {part['value']:,} {part['unit']}. {part['because']}"
        replies[cell] = _reply(part["because"], 1.0) if credit == 1.0 else _reply(near, credit)
    yield Asked("amount", part["question"], "amount", replies, {}, part["unit"], part["within"], _hints(part))


def _repair(_: Truth, part: Mapping[str, Any]) -> Iterator[Asked]:
    best = part["right"]
    text = part.get("question", "What would you do now?")
    yield _of_sentences("repair", text, {best["do"]: best["because"]}, _by(part["wrong"], "do"), _hints(part))
    if "side_effects" in part:
        text = "And what does the right repair cost: its side effect?"
        costs = {best["side_effect"]: best.get("costs", "Yes, that is its price.")}
        yield _of_sentences("side_effect", text, costs, _by(part["side_effects"], "effect"), ())


def _verify(_: Truth, part: Mapping[str, Any]) -> Iterator[Asked]:
    text = part.get("question", "How would you know that it worked?")
    best = {part["right"]["by"]: part["right"]["because"]}
    yield _of_sentences("verify", text, best, _by(part["wrong"], "by"), _hints(part))


def _of_sentences(
    name: str, text: str, best: Mapping[str, str], others: Mapping[str, str], hints: tuple[str, ...]
) -> Asked:
    """A question whose options are sentences, each with what is said to it."""
    replies = {said: _reply(because) for said, because in others.items()}
    replies |= {said: _reply(because, 1.0) for said, because in best.items()}
    return Asked(name, text, "choice", replies, {said: said for said in replies}, hints=hints)


def _by(many: list[Mapping[str, str]], name: str) -> dict[str, str]:
    return {one[name]: one["because"] for one in many}


def lines(path: Path) -> list[str]:
    """The lines of a file of a capture; only a line feed ends one."""
    raw = path.read_bytes()
    whole = gzip.decompress(raw) if path.suffix == ".gz" else raw
    return whole.decode("utf-8", "replace").split("\n")


def _hints(part: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(part.get("hints", ()))


_SECTIONS: Mapping[str, Callable[[Truth, Mapping[str, Any]], Iterator[Asked]]] = {
    "starts_in": _starts_in,
    "since": _since,
    "who": _who,
    "mechanism": _mechanism,
    "line": _line,
    "amount": _amount,
    "repair": _repair,
    "verify": _verify,
}
