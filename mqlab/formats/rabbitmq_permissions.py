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

import re
from collections.abc import Iterable, Iterator

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Item, Line, Noise, Spec
from mqlab.sources import Role
from mqlab.tables import SETTINGS

FORMAT = Spec("rabbitmq-permissions", Role.COMMAND, (SETTINGS,), "rabbitmq")

_HEADER = re.compile(r"^user\t(?P<first>exchange|configure)\twrite\tread\s*$", re.ASCII)
_LISTING = re.compile(r"^Listing (?:topic )?permissions for (?:vhost|user) ", re.ASCII)
_ROW = re.compile(r"^(?P<user>[^\t]+)\t(?P<first>[^\t]*)\t(?P<write>[^\t]*)\t(?P<read>(?:[^\t]*[^\s])?)\s*$", re.ASCII)


def recognise(head: Head) -> bool:
    """True for a table under the header of one of both commands."""
    return any(_HEADER.match(line) for line in console.plain_lines(head)[:5])


def parse(lines: Iterable[Line], about: About) -> Iterator[Item]:
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
