"""All incidents of a team: a row for each, what comes back, and how long it took to notice, stop and repair them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from statistics import median

from mqlab import units
from mqlab.catalogue import INCIDENTS
from mqlab.comparing.answer import place
from mqlab.comparing.sides import Side
from mqlab.comparing.tables import NOTHING, Table, columns, text
from mqlab.figures.comparing import Mark
from mqlab.headline import headline
from mqlab.languages import said
from mqlab.notes import NAME, IncidentNotes
from mqlab.reporting.evidence import dossiers
from mqlab.reporting.impact import LASTED, impact
from mqlab.screens.rows import WIDTH
from mqlab.terminal import safe, wrapped
from mqlab.words import listed, room

say = room("history")

SCHEMA = "mqlab.history/1"
UNREADABLE = "unreadable"
TIMES = ("detect", "mitigate", "resolve")


@dataclass(frozen=True, slots=True)
class Incident:
    """One entry of the folder; of one that could not be read, why."""

    entry: str
    incident: str
    told: str
    """What it cost and why, as the data tell; of one that could not be read, why."""
    title: str = ""
    """What people call it."""
    at: float | None = None
    """Its onset, else the beginning of its material."""
    until: float | None = None
    severity: str = ""
    certainty: str = ""
    subject: str = ""
    places: tuple[str, ...] = ()
    """Topics and groups that it happened to, else whatever its subject names; what tells a repeat."""
    cost: tuple[str, ...] = ()
    """What it did to the users, the gravest first."""
    besides: tuple[str, ...] = ()
    """How long it lasted, and money where people gave rates."""
    detect: float | None = None
    """Seconds from the onset to what ``incident.yml`` notes; None where either is not known."""
    mitigate: float | None = None
    resolve: float | None = None

    @property
    def is_incident(self) -> bool:
        """Something at warning or above was found."""
        return bool(self.severity)

    @property
    def seconds(self) -> tuple[tuple[str, float], ...]:
        """(what, how long it took) as far as both moments are known, and in their order."""
        told = ((name, getattr(self, name)) for name in TIMES)
        return tuple((name, taken) for name, taken in told if taken is not None and taken >= 0)


def incident(entry: str, side: Side, notes: IncidentNotes) -> Incident:
    """The row of one capture."""
    lead, diagnosis = side.lead, side.diagnosis
    slug, title = diagnosis.verdict.incident, notes.title or ""
    told = headline(diagnosis) if lead is not None or slug in INCIDENTS else ""
    if lead is None:
        return Incident(entry, slug, told, title, side.begin, side.end)
    effects = impact(diagnosis, dossiers(diagnosis), notes)
    return Incident(
        entry,
        slug,
        told,
        title,
        side.onset if side.onset is not None else side.begin,
        lead.ended_at.timestamp() if lead.ended_at else side.onset,
        lead.severity.name.lower(),
        lead.certainty.name.lower(),
        lead.subject,
        tuple(sorted(name for _, name in place(side, lead))),
        tuple(dict.fromkeys(one.text for one in effects if one.href.startswith("#F") or one.how == NAME)),
        tuple(one.text for one in effects if one.href == LASTED or one.how not in ("", NAME)),
        *(_taken(side.onset, at) for at in (notes.detected, notes.mitigated, notes.resolved)),
    )


def _taken(onset: float | None, at: datetime | None) -> float | None:
    return at.timestamp() - onset if at is not None and onset is not None else None


def unreadable(entry: str, because: str) -> Incident:
    """The row of what could not be read."""
    return Incident(entry, UNREADABLE, because)


@dataclass(frozen=True, slots=True)
class Repeat:
    """One cause that came back: the same class in the same place, at other times."""

    incident: str
    places: tuple[str, ...]
    entries: tuple[str, ...]
    at: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class History:
    """All entries of a folder by time, and what they have in common."""

    folder: str
    incidents: tuple[Incident, ...]
    repeats: tuple[Repeat, ...]


def history(folder: str, incidents: Sequence[Incident]) -> History:
    """The rows by time, those without a date last."""
    ordered = tuple(sorted(incidents, key=lambda one: (one.at is None, one.at or 0.0, one.entry)))
    return History(folder, ordered, tuple(_repeats(ordered)))


def _repeats(incidents: Sequence[Incident]) -> Iterator[Repeat]:
    """Incidents of one class that share a topic or group, one after the other; the same one twice is no repeat."""
    chains: dict[str, list[list[Incident]]] = defaultdict(list)
    for one in incidents:
        if not one.is_incident or one.at is None:
            continue
        own = [chain for chain in chains[one.incident] if any(set(one.places) & set(other.places) for other in chain)]
        if not own:
            chains[one.incident].append([one])
        elif all((other.until or other.at or 0.0) < one.at for other in own[0]):
            own[0].append(one)
    for slug, many in sorted(chains.items()):
        for chain in many:
            if len(chain) > 1:
                places = sorted(set.intersection(*(set(one.places) for one in chain)) or set(chain[0].places))
                yield Repeat(
                    slug, tuple(places), tuple(one.entry for one in chain), tuple(one.at or 0.0 for one in chain)
                )


def summary(told: History) -> str:
    """What the folder holds, in a sentence or two."""
    kinds = Counter(
        "incident" if one.is_incident else one.incident if one.incident in _QUIET else "benign"
        for one in told.incidents
    )
    parts = [say("of-kind", entries=kinds[name], kind=name) for name in _KINDS if kinds[name]]
    return say("summary", entries=len(told.incidents), kinds=parts)


_QUIET = ("healthy", "undetermined", UNREADABLE)
_KINDS = ("incident", "benign", *_QUIET)


def times(told: History) -> tuple[str, ...]:
    """The median time to detect, mitigate and resolve, each with how many it is of."""
    found = []
    known = sum(one.is_incident for one in told.incidents)
    for name in TIMES:
        taken = [seconds for one in told.incidents for what, seconds in one.seconds if what == name]
        if taken:
            times = {"middle": median(taken), "least": min(taken), "most": max(taken)}
            found.append(say("times", step=name, **times, known=len(taken), incidents=known))
    early = [one.entry for one in told.incidents if any((getattr(one, name) or 0.0) < 0 for name in TIMES)]
    if early:
        found.append(say("early", entries=early))
    return tuple(found)


def tables(told: History) -> tuple[Table, ...]:
    """One row an entry; then what came back, and how often each class was there."""
    by_class = Counter(one.incident for one in told.incidents if one.is_incident)
    rows = tuple((slug, str(count), _last(told, slug)) for slug, count in by_class.most_common())
    return (
        Table(say("incidents"), say("incidents-note"), _HEADER, tuple(_row(one) for one in told.incidents)),
        Table(
            say("repeats"),
            say("repeats-note") if told.repeats else say("no-repeats"),
            ("class", "where", "times", "entries"),
            tuple((r.incident, ", ".join(r.places), str(len(r.entries)), ", ".join(r.entries)) for r in told.repeats),
        ),
        Table(say("classes"), "" if rows else say("no-incidents"), ("class", "incidents", "last, UTC"), rows),
    )


_HEADER = ("UTC", "entry", "class", "what it was, what it cost", "severity", "detected", "mitigated", "resolved")

_TOLD = _HEADER.index("what it was, what it cost")


def _row(one: Incident) -> tuple[str, ...]:
    when = units.stamp(one.at)[:16] if one.at is not None else NOTHING
    sure = listed((one.severity, one.certainty), ", ") if one.severity else ""
    taken = (_time(getattr(one, name)) for name in TIMES)
    sentences = (_sentence(text) for text in (one.title, one.told, *one.besides) if text)
    return (when, one.entry, one.incident, listed(sentences, " "), sure, *taken)


def _sentence(text: str) -> str:
    """*text* with a full stop; one that has it stays a text of its room."""
    return text if text.endswith(".") else say("sentence", text=text)


def screen(told: History) -> Iterator[str]:
    """The same for a terminal: an incident has a row, and below it what it was and cost."""
    first, *rest = tables(told)
    lines = columns([(*row[:_TOLD], *row[_TOLD + 1 :]) for row in (_HEADER, *first.rows)])
    yield ""
    yield next(lines)
    for line, row in zip(lines, first.rows, strict=True):
        yield line
        yield from (f"    {below}" for below in wrapped(safe(said(row[_TOLD])), WIDTH - 4))
    yield from text(rest, len(told.incidents))


def _time(seconds: float | None) -> str:
    if seconds is None:
        return NOTHING
    return units.duration(seconds) if seconds >= 0 else f"−{units.duration(-seconds)}"


def _last(told: History, slug: str) -> str:
    return units.stamp(max((one.at or 0.0 for one in told.incidents if one.incident == slug), default=None))[:16]


def marks(told: History) -> tuple[list[Mark], list[list[Mark]]]:
    """What the figure draws: every dated entry, and the repeats among them."""
    drawn = {
        one.entry: Mark(one.at, one.incident, one.severity, _mark(one), one.seconds)
        for one in told.incidents
        if one.at is not None
    }
    return list(drawn.values()), [[drawn[entry] for entry in repeat.entries] for repeat in told.repeats]


def _mark(one: Incident) -> str:
    return say("mark", entry=one.entry, told=one.title or one.told)


def dumps(told: History) -> str:
    """The JSON text that ``mqlab history --format json`` prints."""
    document = {
        "schema": SCHEMA,
        "folder": told.folder,
        "incidents": [asdict(one) | {"at": units.iso(one.at), "until": units.iso(one.until)} for one in told.incidents],
        "repeats": [asdict(one) | {"at": [units.iso(at) for at in one.at]} for one in told.repeats],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
