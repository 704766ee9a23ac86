r"""Access logs of nginx's stream module, which stands in front of brokers → EVENTS: connections that ended.

Sample lines::

    2026-11-21T12:02:02+00:00 10.41.8.21:54538 200 sent=4 received=358400 time=35.009 upstream=10.41.8.10:1883
    2026-11-22T06:42:41+00:00 client=10.81.6.10:56893 status=200 in=34 out=9 secs=20.001 to=10.81.0.4:1883
    10.41.8.21 [21/Nov/2026:12:02:02 +0000] TCP 200 4 358400 35.009
    10.41.8.21 [21/Nov/2026:12:02:02 +0000] TCP 200 4 358400 35.009 "10.41.8.10:1883" "358400" "4" "0.000"

A line is written when a session ends, so its moment is the end. ``received`` counts what came from the client and
``sent`` what went to it, which people also call ``in`` and ``out`` (``$bytes_received`` and ``$bytes_sent``,
ngx_stream_core_module); without names they stand in the order of the example in nginx's manual. Requests of HTTP have a
method in quotes and are no such lines.
"""

from __future__ import annotations

from mqlab.formats import console
from mqlab.formats.access_log import moment
from mqlab.formats.base import About, Data, Head, Items, Lines, Spec, regex
from mqlab.formats.values import filled, real
from mqlab.sources import Role
from mqlab.tables import EVENTS, Row

FORMAT = Spec("nginx-stream-log", Role.LOG, (EVENTS,))

_ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:?\d\d)"
_ENGLISH = r"\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4}"
_MOMENT = regex(rf" \[?({_ISO}|1\d{{9}}\.\d{{3}})\]?(?= )|\[({_ENGLISH})\]")
_ADDRESS = regex(
    r"[ =\"](\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?|\[[0-9A-Fa-f:.]+\]:\d{1,5}"
    r"|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,8}(?::\d{1,5})?|unix:)(?=[ \"\]]|$)"
)
_STATUS = r"(?:status=)?(?:200|400|403|500|502|503)"
_PLACED = regex(rf" {_STATUS} (?P<sent>\d+) (?P<received>\d+) (?P<seconds>\d+\.\d{{3}})(?= |$)")
_NAMED = regex(rf" {_STATUS}(?: .*?)?? (?:\w*(?:sent|received|time)|in|out|secs)=")
_NUMBER = regex(
    r"[ \"](?:(?:bytes_)?(sent|out|received|in)[=:]\"?(\d+)|(?:(?:session_?)?time|secs)[=:]\"?(\d+\.\d{3}))"
)
_KEYS = {"out": "sent", "in": "received", "": "seconds"}
_REQUEST = regex(r"\"[A-Z]+ \S+ HTTP/")
_LIKELY = 0.9


def recognise(head: Head) -> bool:
    """True when nearly all lines are sessions."""
    lines = console.plain_lines(head)[:200]
    return bool(lines) and sum(bool(_session(line)) for line in lines) >= _LIKELY * len(lines)


def parse(lines: Lines, about: About) -> Items:
    """One event of kind ``proxied-connection`` a session."""
    others = []
    for line in lines:
        session = _session(console.plain(line.text))
        if session:
            yield Data(line, (session,))
        else:
            others.append(line)
    yield from map(console.remark, console.shown(others, about))


def _session(text: str) -> Row | None:
    """The event that a line tells; None for anything but a session."""
    text = f" {text}"
    numbers = _numbers(text)
    dated = _MOMENT.search(text) if numbers else None
    address = _ADDRESS.search(text) if dated else None
    if not numbers or not dated or not address or _REQUEST.search(text):
        return None
    return EVENTS.row(
        at=moment(dated[1] or dated[2]),
        system="mqtt",
        kind="proxied-connection",
        peer=filled(address[1]),
        reason=f"received {numbers['received']} sent {numbers['sent']}",
        value=real(numbers["seconds"]),
    )


def _numbers(text: str) -> dict[str, str] | None:
    """What was sent, received and how long it took, by name where the line has names; None where one is not told."""
    named = {_KEYS.get(key, key): count or time for key, count, time in reversed(_NUMBER.findall(text))}
    if placed := _PLACED.search(text):
        return placed.groupdict() | named
    return named if len(named) == len(_KEYS) and _NAMED.search(text) else None
