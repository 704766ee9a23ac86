r"""``rabbitmqctl list_permissions`` and ``list_topic_permissions`` → SETTINGS: what users of RabbitMQ may do.

Sample lines (cells are parted by tabulators)::

    Listing topic permissions for vhost "/" ...
    user    exchange    write    read
    panel   amq.topic   ^$       ^press\.1\..*

The scope is ``permission``, not ``acl``: values are regular expressions over names and routing keys, which have dots
where topics of MQTT have slashes, and no filters. The owner is the user, keys are
``configure``, ``write`` and ``read``.
"""

from __future__ import annotations

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Spec, regex
from mqlab.sources import Role
from mqlab.tables import SETTINGS

FORMAT = Spec("rabbitmq-permissions", Role.COMMAND, (SETTINGS,), "rabbitmq")

_HEADER = regex(r"^user\t(?P<first>exchange|configure)\twrite\tread\s*$")
_LISTING = regex(r"^Listing (?:topic )?permissions for (?:vhost|user) ")
_ROW = regex(r"^(?P<user>[^\t]+)\t(?P<first>[^\t]*)\t(?P<write>[^\t]*)\t(?P<read>(?:[^\t]*[^\s])?)\s*$")


def recognise(head: Head) -> bool:
    """True for a table under the header of one of both commands."""
    return any(_HEADER.match(line) for line in console.plain_lines(head)[:5])


def parse(lines: Lines, about: About) -> Items:
    """One row a permission: three of a user's line, two where it is about topics of an exchange."""
    first = ""
    for one in console.shown(lines, about):
        if header := _HEADER.search(one.plain):
            first = header["first"]
            yield Noise(one.line)
        elif _LISTING.search(one.plain):
            yield Noise(one.line)
        elif row := _ROW.search(one.plain):
            cells = {"write": row["write"], "read": row["read"]}
            if first == "configure":
                cells = {"configure": row["first"], **cells}
            told = {"at": one.at, "scope": "permission", "origin": "describe", "owner": row["user"]}
            yield Data(one.line, [SETTINGS.row(**told, key=key, value=value) for key, value in cells.items()])
        else:
            yield console.remark(one)
