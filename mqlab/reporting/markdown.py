"""The report as Markdown, for a ticket or a chat: the same story as the page, whole or in eight lines.

What comes from the material stays text: it makes no mark-up, no link, no mention of a person and no cell of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mqlab import units, words
from mqlab.catalogue import INCIDENTS
from mqlab.delivery.audit import audits
from mqlab.delivery.path import sentences
from mqlab.findings import Evidence
from mqlab.languages import said
from mqlab.reporting.chronology import Row
from mqlab.reporting.view import FETCH, View
from mqlab.terminal import visible

say, page = words.room("report"), words.room("page")

_MARKS = re.compile(r"([\\`*\[\]<>|~$]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|:(?=//)|(?<=www)\.)", re.IGNORECASE)
"""What would be mark-up, or a link that GitHub makes by itself."""
_BLOCKS = re.compile(r"\A([#+=-]|\d+(?=[.)]))")
"""What makes a heading, an item or a rule of the beginning of a line."""
_MENTIONS = re.compile(r"(?<=[@#])(?=\w)")
"""Where a ticket system would call a person or another ticket: an invisible joint keeps them text."""
_JOINT = "\u2060"
_CODE = re.compile(r"`([^`]+)`")
_MOST_LINES = 8
_PLACES = 3


def brief(view: View) -> str:
    """Eight lines at most: class and certainty, cost, time, trigger, what to do now, fix, verify, evidence."""
    return "\n".join(_brief(view)[:_MOST_LINES]) + "\n"


def whole(view: View) -> str:
    """The postmortem, with the headings of the page."""
    parts = [
        f"# {text(view.title)}",
        f"{_band(view)} {_made(view)}",
        text(view.diagnosis.verdict.statement),
        *_section("", [f"**{said(title)}**: {_action(title, what)}" for title, what in view.actions if what]),
        *_section("What it may be", list(_maybe(view))),
        *_section("LOSS", [] if view.leads else [text(one) for one in sentences(audits(view.facts))]),
        *_section("Impact", [_with(one.text, one.how) for one in view.story.impact]),
        *_section("Root cause", list(_causes(view))),
        *_table("What happened when", ("UTC", "what happened"), list(_moments(view))),
        *_section("Also found", list(_also(view))),
        *_section("What went well", list(map(text, view.story.noticed.well))),
        *_section("What was noticed late or went badly", list(map(text, view.story.noticed.badly))),
        *_table("Further actions", ("action", "owner", "due", "status"), list(_to_do(view))),
        *_section("Open questions", [_with(one.text, "", one.fetch) for one in view.story.questions]),
        *_section("Coverage", list(map(text, view.diagnosis.gaps))),
        *_section("Evidence", list(_evidence(view))),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def text(words: str) -> str:
    """Words, as they are said, that mean nothing to Markdown."""
    return _escaped(_on_one_line(said(words)).strip())


def code(words: str) -> str:
    """Literal words, whatever they hold."""
    line = _on_one_line(words).strip()
    if not line:
        return ""
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"


def light(words: str) -> str:
    """A text of the catalogue: what stands in back-ticks is code."""
    parts = _CODE.split(_on_one_line(said(words)))
    return "".join(code(part) if place % 2 else _escaped(part) for place, part in enumerate(parts))


def _on_one_line(words: str) -> str:
    return visible(re.sub(r"\s+", " ", words))


def _escaped(line: str) -> str:
    return _MENTIONS.sub(_JOINT, _BLOCKS.sub(_escaped_start, _MARKS.sub(r"\\\1", line)))


def _escaped_start(found: re.Match[str]) -> str:
    return f"{found[1]}\\" if found[1].isdigit() else f"\\{found[1]}"


def _brief(view: View) -> list[str]:
    rows = [
        ("Summary", "" if view.dossiers else text(view.diagnosis.verdict.statement)),
        ("Impact", "; ".join(text(one.text) for one in view.story.impact)),
        ("When", text(view.dossiers[0].when) if view.dossiers else ""),
        ("Trigger", _trigger(view)),
        *((title, _action(title, what)) for title, what in view.actions),
        *(("May be", f"{_title(one.incident)}: {text(one.explains[0])}") for one in view.diagnosis.verdict.hypotheses),
        ("Evidence", ", ".join(map(_place, _first_places(view)))),
    ]
    first = f"{_band(view)} {_made(view)}: {text(view.title)}"
    return [first, *(f"- **{said(name)}**: {words}" for name, words in rows if words)]


def _action(title: str, what: str) -> str:
    """Words of the finding, or commands that fetch more."""
    return ", ".join(map(code, what.split("\n"))) if title == FETCH else text(what)


def _band(view: View) -> str:
    return f"**{' · '.join(map(text, view.band))}**"


def _made(view: View) -> str:
    return f"(mqlab {view.diagnosis.version})"


def _title(slug: str) -> str:
    return text(INCIDENTS[slug].title if slug in INCIDENTS else slug)


def _with(words: str, how: str, command: str = "") -> str:
    return text(words) + (f" ({text(how)})" if how else "") + (f": {code(command)}" if command else "")


def _trigger(view: View) -> str:
    return "; ".join(
        " ".join(filter(None, (one.at, text(one.text), _inferred(one.inferred))))
        for one in view.course
        if one.name == "trigger"
    )


def _inferred(is_inferred: bool) -> str:
    return f"*{said('inferred')}*" if is_inferred else ""


def _causes(view: View) -> Iterator[str]:
    for link in view.story.causes:
        proof = ", ".join(filter(None, (_inferred(link.inferred), text(link.proof))))
        yield f"**{said(link.role)}**: {light(link.text)}" + (f" ({proof})" if proof else "")


def _moments(view: View) -> Iterator[tuple[str, ...]]:
    shown = units.stamp if view.story.chronology.days > 1 else units.clock
    for row in view.story.chronology.told:
        yield from ((shown(row.at), happened) for happened in _happened(row))


def _happened(row: Row) -> Iterator[str]:
    for one in row.happened:
        mark = f"**{said(one.mark)}**" if one.mark else ""
        yield " ".join(filter(None, (mark, text(one.text), _inferred(one.inferred), _place_in_cell(one.place))))


def _place_in_cell(place: str) -> str:
    """Text where a bar would end the cell: in code there is no sure escape for it."""
    return text(place) if "|" in place else code(place)


def _maybe(view: View) -> Iterator[str]:
    """What may be behind it where nothing leads, with what speaks against it and what would tell."""
    for one in view.diagnosis.verdict.hypotheses if view.diagnosis.verdict.incident == "undetermined" else ():
        against = [text(page("against", text=said(but))) for but in one.against[:1]]
        to_tell = [f"{text(page('to-tell', missing=way.missing))} {code(way.fetch)}" for way in one.settle[:1]]
        yield " ".join((f"{_title(one.incident)}: {text(one.explains[0])}.", *against, *to_tell))


def _also(view: View) -> Iterator[str]:
    for one in view.dossiers[view.leads :]:
        still = f", **{said('still open')}**" if one.finding.goes_on else ""
        severity, known = said(one.finding.severity.name), said(one.finding.certainty.name)
        yield f"{severity} {_title(one.finding.incident)} {known}{still}: {text(one.finding.statement)}"


def _to_do(view: View) -> Iterator[tuple[str, ...]]:
    for one in view.story.actions:
        status = f"{said('suggested')} ({one.href[1:]})" if one.href else text(one.status)
        verify = f" {text(say('verify', how=one.verify))}" if one.verify else ""
        yield text(one.what) + verify, text(one.owner) or "—", one.due or "—", status or "—"


def _first_places(view: View) -> list[Evidence]:
    places = view.dossiers[0].finding.evidence if view.dossiers else ()
    return list({one.place: one for one in places}.values())[:_PLACES]


def _place(one: Evidence) -> str:
    return code(one.place)


def _evidence(view: View) -> Iterator[str]:
    for dossier in view.dossiers:
        for one in dossier.finding.evidence[:_PLACES]:
            yield " ".join(filter(None, (dossier.anchor, _place(one), code(one.text), text(one.why))))


def _section(heading: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield f"## {said(heading)}" if heading else ""
        yield "\n".join(f"- {one}" for one in items)


def _table(heading: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield f"## {said(heading)}"
        lines = [list(map(said, header)), ["---"] * len(header), *rows]
        yield "\n".join(f"| {' | '.join(line)} |" for line in lines)
