"""What a subscriber on a command line printed: one message a line, topic and payload.

Sample lines::

    pi@station:~ $ mosquitto_sub -v -t "gateway/#"
    gateway/00aa/event/up {"phyPayload":"QBAA","rxInfo":{"rssi":-51}}
    ^C

Payloads are nobody's business: a line is data, and gives no row. Without the command that printed them, lines are told
by payloads of JSON.
"""

from __future__ import annotations

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Spec, regex
from mqlab.sources import Role
from mqlab.tables import EVENTS

FORMAT = Spec("mqtt-subscriber", Role.COMMAND, (EVENTS,), "mqtt")

_COMMAND = regex(r"\b(?:mosquitto_(?:sub|rr)|mqttx (?:sub|bench sub)|mqtt sub|(?:amqtt|hbmqtt)_sub)\b")
_MESSAGE = regex(r"^(?:\[?20\d\d-\S{6,40}\]? )?[^\s/{}\[\]\"=:,;|$>#]+(?:/[^\s/{}\"=,;|]+)+:? +\S")
_JSON = regex(r"^(?:\[?20\d\d-\S{6,40}\]? )?[^\s{}\[\]\"=:,;|$>#]+/[^\s{}\"=,;|]+ \{.*\}\s*$")
_ENDED = regex(r"^\s*\^[CZ]\s*$|^Timed out$|^Subscribed \(mid: |^Client \S+ (?:sending|received) ")


def recognise(head: Head) -> bool:
    """True for messages behind the command of a subscriber, and where nearly all lines are a topic and JSON."""
    lines = console.plain_lines(head)[:400]
    told = [line for line in lines if not (console.is_remark(line) or _ENDED.search(line) or _COMMAND.search(line))]
    asked = any(_COMMAND.search(line) and not _MESSAGE.match(line) for line in lines)
    found = sum((_MESSAGE if asked else _JSON).match(line) is not None for line in told)
    return found > 0 and 10 * found >= 9 * len(told)


def parse(lines: Lines, about: About) -> Items:
    """Messages are data, prompts and the client's own words noise."""
    for one in console.shown(lines, about):
        if _ENDED.search(one.plain) or (_COMMAND.search(one.plain) and not _MESSAGE.match(one.plain)):
            yield Noise(one.line)
        elif _MESSAGE.match(one.plain):
            yield Data(one.line)
        else:
            yield console.remark(one)
