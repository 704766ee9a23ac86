"""What ``relayctl status`` prints, saved with the moment in its name: ``relayctl-status.20261122T100500Z.txt``.

Sample lines::

    RELAY    HOLDS  OLDEST
    relay-2  9800   298 s
"""

from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Reject, Spec, regex
from mqlab.sources import Role
from mqlab.tables import EVENTS

FORMAT = Spec("relay-status", Role.COMMAND, (EVENTS,), "relay")

_HEADER = regex(r"RELAY +HOLDS +OLDEST")
_ROW = regex(r"(?P<relay>relay-\d+) +(?P<holds>\d+) +(?P<oldest>\d+ s)\s*$")


def recognise(head: Head) -> bool:
    """True where the header is there."""
    return any(_HEADER.match(line) for line in head.lines)


def parse(lines: Lines, about: About) -> Items:
    """A look into the outbox for each row; each line is answered once."""
    for line in lines:
        if row := _ROW.match(line.text):
            told = {"at": about.snapshot_at, "system": "app", "node": row["relay"], "kind": "outbox-holds"}
            yield Data(line, (EVENTS.row(**told, value=float(row["holds"]), reason=row["oldest"]),))
        elif _HEADER.match(line.text):
            yield Noise(line)
        else:
            yield Reject(line)
