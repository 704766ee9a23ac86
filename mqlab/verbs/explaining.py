"""``mqlab explain``: a class of incident, a known error by its name, or what pasted lines say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from mqlab.catalogue import INCIDENTS
from mqlab.errors import UnknownIncidentError
from mqlab.formats import own_lines, signatures
from mqlab.formats.log_events import rows
from mqlab.formats.registry import BY_NAME, FORMATS
from mqlab.known_errors import known_errors
from mqlab.languages import said
from mqlab.material import pasted
from mqlab.tables import EVENTS
from mqlab.words import room

say = room("verbs")

_ALIKE = 5
"""Names that are suggested at most."""


def explained(words: str) -> str:
    """A page about *words*: the name of a class or of a known error, or lines of a log.

    Raises:
        UnknownIncidentError: it is none of them.
    """
    if words in INCIDENTS:
        return INCIDENTS[words].page(said)
    if words in known_errors():
        return known_errors()[words].page(said)
    known = pasted.parts(words.encode("utf-8", "replace"), "-", FORMATS, "")
    lines = [one.inner for part in known for one in part.wholes] or words.splitlines()
    pages = dict.fromkeys(page for line in lines if (page := _said(line)))
    specs = [BY_NAME[part.known.format].FORMAT for part in known if part.known.format in BY_NAME]
    if not pages and not specs:
        raise UnknownIncidentError(words, alike(words))
    whose = dict.fromkeys(said(say("whose", role=str(spec.role), of=spec.software)) for spec in specs)
    return "\n".join([*whose, "", *(pages or [said(say("unknown-line")), ""])])


def alike(words: str) -> dict[str, str]:
    """Classes and known errors whose names, titles or meanings hold all of the *words*, else those with near names."""
    titles = {slug: incident.title for slug, incident in INCIDENTS.items()}
    titles |= {name: error.means.split(". ")[0].rstrip(".") for name, error in known_errors().items()}
    asked = re.findall(r"\w+", words.lower())
    known = {slug: f"{slug} {incident.title} {incident.what}" for slug, incident in INCIDENTS.items()}
    known |= {name: f"{name} {error.means}" for name, error in known_errors().items()}
    parts = {name: re.findall(r"\w+", text.lower()) for name, text in known.items()}

    def holds(begun: Sequence[str], told: Sequence[str]) -> bool:
        return bool(begun) and all(any(part.startswith(word) for part in told) for word in begun)

    found = [name for name in titles if holds(asked, name.split("-"))]
    found += [name for name in titles if holds(asked, parts[name])]
    if not found:
        found = get_close_matches("-".join(asked), titles, _ALIKE)
        near = [get_close_matches(word, {part for told in parts.values() for part in told}, 1, 0.8) for word in asked]
        found += [name for name in titles if all(near) and holds([one[0] for one in near], parts[name])]
    return {name: titles[name] for name in list(dict.fromkeys(found))[:_ALIKE]}


def _said(line: str) -> str | None:
    """What a line, or the part of one that is left, says; None where no signature knows it."""
    words = signatures.words()
    numbers = {
        n for part in (words.begins, words.contains) for word, these in part.items() if word in line for n in these
    }
    found = signatures.select(line, numbers, severe=True, is_plain=False)
    if found is None and (message := own_lines.message(line)) is not None:
        found = own_lines.select(line, message)
    if found is None:
        parts = (e for e in known_errors().values() if e.begins and signatures.compiled(e.begins).search(line))
        return next((error.page(said) for error in parts), None)
    events = [row.values for row in rows(line, found) if row.table is EVENTS]
    for event in events:
        for error in known_errors().values():
            if error.kind == event["kind"] and error.says(event.get("reason"), line):
                return error.page(said)
    classes = [slug for slug, incident in INCIDENTS.items() if events and events[0]["kind"] in incident.accounts_for]
    return f"## {signatures.SIGNATURES[found.number].kind}\n\n{said(say('line', classes=classes))}\n"
