"""``nginx.conf`` → SETTINGS of scope proxy: what a proxy in front of brokers limits.

Sample lines::

    stream {
        upstream mqtt { server 10.41.8.10:1883; }
        server {
            listen 21884;
            proxy_upload_rate 10k;
        }
    }

The owner is what the server around a directive listens on. Keys and values are as written. (``crossplane``
drops the quotes, wants a file of its own and ends at the first brace too many.)
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Reject, Spec, regex
from mqlab.formats.values import filled
from mqlab.sources import Role
from mqlab.tables import SETTINGS, Row

FORMAT = Spec("nginx-conf", Role.CONFIGURATION, (SETTINGS,))

_COMMENT = regex(r"\s*(?:#.*)?$")
_ASIDE = regex(r"\s#")
_ENDS = regex(r"[;{}]\s*$")
_GOES_ON = regex(r"\s*['\"$\w]")
_TOKEN = re.compile(r"[;{}]|[^;{}'\"]+|'(?:[^'\\]++|\\.)*+'?|\"(?:[^\"\\]++|\\.)*+\"?")
"""A torn quotation goes on to the end."""
_OWN = regex(
    r"(?m)^\s*(?:stream|http|events|server|upstream\s+\S+)\s*\{|^\s*(?:worker_processes|worker_connections|listen"
    r"|proxy_\w+|server_name|load_module|access_log|log_format)\s[^=;\n]*;"
)
_LIKELY = 0.8
_INSIDE = ("location", "if", "limit_except", "types")
"""Blocks that stand within a server."""


def recognise(head: Head) -> bool:
    """True when directives end in semicolons or open and close blocks, and two of them are nginx's own."""
    lines = [line for line in console.plain_lines(head) if not _COMMENT.match(line)]
    ended = sum(bool(_ENDS.search(_without_aside(line))) for line in lines)
    return len(_OWN.findall("\n".join(lines))) >= 2 and ended >= _LIKELY * len(lines)


def parse(lines: Lines, about: About) -> Items:
    """One setting a directive, at the line at which its statement begins; comments are noise."""
    shown = console.shown(lines, about)
    settings = _settings(shown)
    for one in shown:
        rows = settings.get(one.line.number, [])
        if one.error:
            rows.append(one.error)
        said = _without_aside(one.plain)
        if _COMMENT.match(one.plain) and not rows:
            yield Noise(one.line)
        elif rows or _ENDS.search(said) or _GOES_ON.match(said):
            yield Data(one.line, rows)
        else:
            yield Reject(one.line)


def _settings(lines: Sequence[console.Shown]) -> Mapping[int, list[Row]]:
    """The rows of each line; what a server listens on may stand behind what else it says."""
    blocks: list[list[str] | None] = []
    told: list[tuple[int, str, str | None, list[str] | None]] = []
    for number, directive, sign in _statements(lines):
        word, value = (*directive.split(maxsplit=1), "", "")[:2]
        listens = blocks[-1] if blocks else None
        if sign == "{":
            blocks.append([] if word == "server" else listens if word in _INSIDE else None)
        elif sign == "}":
            del blocks[-1:]
        elif word:
            told.append((number, word, filled(value.rstrip()), listens))
            if word == "listen" and listens is not None:
                listens.append(value.rstrip())
    rows = defaultdict(list)
    for number, key, said, listens in told:
        owner = filled(max(listens, default=None)) if listens else None
        rows[number].append(SETTINGS.row(scope="proxy", origin="file", owner=owner, key=key, value=said))
    return rows


def _statements(lines: Sequence[console.Shown]) -> Iterator[tuple[int, str, str]]:
    """Line, words and sign of each directive, a block's begin or its end."""
    for number, text in _joined(lines):
        words = ""
        for token in _TOKEN.findall(text):
            if token in (";", "{", "}"):
                yield number, words, token
                words = ""
            else:
                words += token


def _joined(lines: Sequence[console.Shown]) -> Iterator[tuple[int, str]]:
    """Lines up to one that ends a directive, and the number of the first."""
    number, pieces = 0, list[str]()
    for one in lines:
        if _COMMENT.match(one.plain):
            continue
        number = number if pieces else one.line.number
        pieces.append(_without_aside(one.plain))
        if _ENDS.search(pieces[-1]):
            yield number, " ".join(pieces)
            pieces = []
    yield number, " ".join(pieces)


def _without_aside(text: str) -> str:
    """A line without the comment behind its directives."""
    quoted = max(text.rfind("'"), text.rfind('"'))
    aside = _ASIDE.search(text, quoted + 1)
    return text[: aside.start()] if aside else text
