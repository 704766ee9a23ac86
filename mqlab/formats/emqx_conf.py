"""``emqx.conf`` of EMQX 4.x (``key = value``) and 5.x (HOCON), and ``acl.conf`` → SETTINGS.

Sample lines::

    zone.external.max_mqueue_len = 1000
    mqtt {
      max_mqueue_len = infinity
    }
    listeners.tcp.default { bind = "0.0.0.0:1883", max_connections = 1024000 }
    {deny, {user, "pump"}, publish, ["plant/+/set"]}.

Names of blocks are joined by dots: ``mqtt.max_mqueue_len``. Rules of ``acl.conf`` have the scope ``acl``, the key
``allow`` or ``deny``, the rest of the rule as value, and are in the order in which they are tried. Nothing dates such a
file. Values of passwords, secrets and cookies are not kept.

pyhocon does not read this: it opens the files that ``include`` names, tells no lines, turns ``2h`` into another
type, gives nothing of a file with one damaged line, and takes 15 s for 130 KB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Spec, regex
from mqlab.secrets import MASK
from mqlab.sources import Role
from mqlab.tables import SETTINGS, Row

FORMAT = Spec("emqx-conf", Role.CONFIGURATION, (SETTINGS,), "emqx")

_OWN = regex(
    r"^(?:zone\.\w+\.|listener\.(?:tcp|ssl|ws|wss)\.|broker\.shared_|mqtt\.(?:max_|\w+_backoff)"
    r"|acl_nomatch|acl_deny_action|flapping_detect|node\.cookie|cluster\.discovery|force_shutdown\b"
    r"|(?:mqtt|listeners(?:\.\w+)*|authorization|durable_sessions|sysmon|retainer) *\{"
    r"|\{(?:allow|deny)(?:, *\{?\w|\}\.))"
)
_DATED = regex(r"^\W?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:")
"""A log prints settings, too."""
_COMMENT = regex(r"^\s*(?:#|//|%).*$|^\s*$")
_OPENS = regex(r'^\s*"?(?P<name>[\w.$"-]+?)"?\s*[=:]?\s*\{\s*$')
_PAIR = regex(r'^\s*(?P<quote>")?(?P<key>[a-zA-Z][\w.$-]*)(?(quote)")\s*[=:]\s*+(?P<value>.*\S)')
_RULE = regex(r"^\s*\{(?P<word>allow|deny)(?:,\s*(?P<rest>.*))?\}\.\s*$")
_LIST = regex(r'^\s*(?:[\[\]{}(),]+|"[^"]*"\s*,?|[\w./:+#$-]+\s*,?)\s*$')
_PARTS = regex(
    r'(?P<kept>"(?:[^"\\]|\\.)*+"?|\$\{[^{}]*\})|(?P<brace>[{}])|(?P<comma>,\s*(?=[a-zA-Z][\w.]*\s*[=:]))'
    r"|\s(?:#|//).*$"
)
"""What holds braces as text, braces, commas between pairs, and a comment behind a value."""
_SECRET = regex(r"(?i)(?:password|secret|cookie|token|api_key)$")
_DEEPEST = 6
"""Blocks within blocks that are told apart."""


def recognise(head: Head) -> bool:
    """True when two lines, or the only one, are keys, blocks or access rules of EMQX."""
    lines = [line for line in head.text.replace("\r", "").split("\n") if not _COMMENT.match(line)]
    if any(_DATED.match(line) for line in lines):
        return False
    own = sum(bool(_OWN.match(line)) for line in lines)
    fit = sum("{" in line or any(form.match(line) for form in (_PAIR, _LIST)) for line in lines)
    return own >= min(2, len(lines)) > 0 and fit * 10 >= len(lines) * 9


def parse(lines: Lines, about: About) -> Items:
    """One row a value or an access rule; comments and members of lists are noise."""
    blocks: list[str | None] = []
    for one in console.shown(lines, about):
        if _COMMENT.search(one.plain):
            yield Noise(one.line)
            continue
        rule = _RULE.search(one.plain)
        rows = [_access(rule)] if rule else list(_values(one.plain, blocks))
        if rows:
            yield Data(one.line, rows)
        elif _LIST.search(one.plain):
            yield Noise(one.line)
        else:
            yield Data(one.line) if "{" in one.plain else console.remark(one)


def _access(rule: re.Match[str]) -> Row:
    return SETTINGS.row(scope="acl", origin="file", key=rule["word"], value=rule["rest"] or "")


def _values(line: str, blocks: list[str | None]) -> Iterator[Row]:
    """Each ``key = value`` with the names of the *blocks* around it, which are those behind the line afterwards."""
    for piece in filter(None, map(str.strip, _PARTS.sub(_broken, line).split("\n"))):
        if piece.startswith("}") and blocks:
            blocks.pop()
        if piece.endswith("{"):
            opens = _OPENS.search(piece)
            blocks.append(opens["name"] if opens else None)
        elif pair := _PAIR.search(piece):
            key = ".".join([*filter(None, blocks[:_DEEPEST]), pair["key"]])
            value = MASK if _SECRET.search(key) else pair["value"].removesuffix(",").rstrip().strip('"')
            yield SETTINGS.row(scope="broker", origin="file", key=key, value=value)


def _broken(part: re.Match[str]) -> str:
    """The *part* of a line with a break where a block or a pair begins or ends."""
    if part["kept"]:
        return part["kept"]
    return {"{": "{\n", "}": "\n}\n"}.get(part[0], ",\n" if part["comma"] else "")
