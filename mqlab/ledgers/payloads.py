"""What lines of logs print of a record's value, which is never kept: one list of regexes.

Sample lines and what stays of them::

    consumed orders-0@33 key=17 value={"card":"4111"}            consumed orders-0@33 key=17 value={…}
    sent value="hello" topic=orders id=17                        sent value="…" topic=orders id=17
    … offset = 33, key = 17, value = hello world)                … offset = 33, key = 17, value = …

A value in no quotes ends where the next fact of the message begins, or with the line.
"""

from __future__ import annotations

import re
from functools import reduce

from mqlab.ledgers.statements import QUOTED
from mqlab.ledgers.verbs import PAYLOADS

_IS = rf"(?i)((?:^|[^\w.])\"?{PAYLOADS}\"?[ \t]?[=:][ \t]?"
NAMED = f"{_IS})"
"""Regex for the name of a value and its sign."""
_FACTS = r"\"?(?:topic|partition|offset|key|id|timestamp)\"?[ \t]?[=:]"
_MANY = "{0,500}"
_INNER = rf"\{{[^{{}}\"]*(?:\"{QUOTED}\"[^{{}}\"]*){_MANY}\}}"
_OBJECT = rf"\{{[^{{}}\"]*(?:(?:\"{QUOTED}\"|{_INNER})[^{{}}\"]*){_MANY}\}}"
STEPS = (
    (rf"{_IS}\"){QUOTED}\"", '$1…"'),
    (rf"{_IS}\")[^…\n][^\n]*$", "$1…"),
    (rf"{_IS}){_OBJECT}", "$1{…}"),
    (rf"{_IS})[^\"\s…{{][^\n]*?((?:,[ \t]*|[ \t]+){_FACTS}|$)", "$1…$2"),
    (rf"{_IS})\{{[^…][^\n]*$", "$1…"),
)
"""Patterns and what they leave, one after the other: in quotes that end or do not, an object within which is one at
most, no quotes, and an object that does not end or is deeper."""
_NAMED = re.compile(NAMED, re.ASCII)
_STEPS = tuple((re.compile(pattern, re.ASCII), re.sub(r"\$(\d)", r"\\g<\1>", rest)) for pattern, rest in STEPS)


def without(line: str) -> str:
    """The line without what it prints of a record's value."""
    if not _NAMED.search(line):
        return line
    return reduce(lambda text, step: step[0].sub(step[1], text), _STEPS, line)
