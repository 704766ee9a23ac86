"""``mqlab explain``: a class of incident, a known error by its name, or what pasted lines say."""

from __future__ import annotations

from mqlab.catalogue import INCIDENTS, explain
from mqlab.errors import UnknownIncidentError
from mqlab.formats import own_lines, signatures
from mqlab.formats.log_events import rows
from mqlab.formats.registry import BY_NAME, FORMATS
from mqlab.known_errors import known_errors
from mqlab.material import pasted
from mqlab.tables import EVENTS

_UNKNOWN = "No signature of mqlab knows what it says.\n"


def explained(words: str) -> str:
    """A page about *words*: the name of a class or of a known error, or lines of a log.

    Raises:
        UnknownIncidentError: it is none of them.
    """
    if words in INCIDENTS:
        return explain(words)
    if words in known_errors():
        return known_errors()[words].explain
    known = pasted.parts(words.encode("utf-8", "replace"), "-", FORMATS, "")
    lines = [one.inner for part in known for one in part.wholes] or words.splitlines()
    pages = dict.fromkeys(page for line in lines if (page := _said(line)))
    specs = [BY_NAME[part.known.format].FORMAT for part in known if part.known.format in BY_NAME]
    if not pages and not specs:
        raise UnknownIncidentError(words, INCIDENTS)
    whose = [f"From a {spec.role}{f' ({spec.software})' if spec.software else ''}." for spec in specs]
    return "\n".join([*dict.fromkeys(whose), "", *(pages or [_UNKNOWN])])


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
        return next((error.explain for error in parts), None)
    events = [row.values for row in rows(line, found) if row.table is EVENTS]
    for event in events:
        for error in known_errors().values():
            if error.kind == event["kind"] and error.says(event.get("reason"), line):
                return error.explain
    classes = [slug for slug, incident in INCIDENTS.items() if events and events[0]["kind"] in incident.accounts_for]
    seen = f"It may be a sign of: {', '.join(classes)}." if classes else "No class of incident is told by it alone."
    return f"## {signatures.SIGNATURES[found.number].kind}\n\nA line that mqlab reads, no known error. {seen}\n"
