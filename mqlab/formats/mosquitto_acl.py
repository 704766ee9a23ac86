"""Access lists of mosquitto (``acl_file``) → SETTINGS of scope acl: who may read and write which topics.

Sample lines::

    topic read news/#
    user agent
    topic write site/a/+/status
    pattern readwrite clients/%c/#

Rules above the first ``user`` hold for clients without a name, and ``pattern`` for everybody (``mosquitto.conf(5)``,
"acl_file"). Without a word for the access a rule is ``readwrite``.
"""

from __future__ import annotations

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Spec, regex
from mqlab.sources import Role
from mqlab.tables import SETTINGS

FORMAT = Spec("mosquitto-acl", Role.CONFIGURATION, (SETTINGS,), "mosquitto")

_USER = regex(r"^\s*user\s+(?P<name>\S(?:.*\S)?)")
_RULE = regex(
    r"^\s*(?P<word>topic|pattern)\s+(?:(?P<access>readwrite|read|write|deny)\s+(?P<filter>\S(?:.*\S)?)|(?P<only>\S+))\s*$"
)
_COMMENT = regex(r"^\s*(?:#.*)?$")


def recognise(head: Head) -> bool:
    """True when every line is a rule, a user or a comment, and one is a rule."""
    lines = [line for line in console.plain_lines(head) if not _COMMENT.match(line)]
    rules = [bool(_RULE.match(line)) for line in lines]
    return any(rules) and all(rule or _USER.match(line) for rule, line in zip(rules, lines, strict=True))


def parse(lines: Lines, about: About) -> Items:
    """One row a rule, in the order of the file; the owner is the user, and null where the rule is everybody's."""
    owner = None
    for one in console.shown(lines, about):
        if user := _USER.search(one.plain):
            owner = user["name"]
            yield Data(one.line)
        elif rule := _RULE.search(one.plain):
            everybody = rule["word"] == "pattern"
            access = rule["access"] or "readwrite"
            row = SETTINGS.row(
                scope="acl",
                origin="file",
                owner=None if everybody else owner,
                key=f"pattern-{access}" if everybody else access,
                value=rule["filter"] or rule["only"],
            )
            yield Data(one.line, (row,))
        else:
            yield Noise(one.line) if _COMMENT.search(one.plain) else console.remark(one)
