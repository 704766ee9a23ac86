"""Sessions with Kafka's tools whose answers tell nothing that is counted here: what the tool complained of → EVENTS.

Sample lines::

    $ kafka-topics.sh --bootstrap-server b-1:9092 --list
    ^CProcessed a total of 3 messages
    500000 records sent, 30112.6 records/sec (28.72 MB/sec), 990.11 ms avg latency, 1410.00 ms max latency.
    {"name":"orders-sink","connector":{"state":"RUNNING","worker_id":"c-1:8083"},"tasks":[{"id":0,"state":"FAILED",…

What a session holds that another format understands is a part of its own (``material.pasted``).
"""

from __future__ import annotations

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Spec, regex
from mqlab.sources import Role
from mqlab.tables import EVENTS

FORMAT = Spec("kafka-tools", Role.COMMAND, (EVENTS,), "kafka")

_COMMAND = regex(
    r"^(?:[^|{}\"]*[\s/$#>%])?(?:kafka-[a-z-]+(?:\.sh|\.bat)?|kcat|kafkacat) (?:.*\s)?(?:--?\w|\S+\.properties)"
)
_ANSWER = regex(
    r"Processed a total of \d+ messages|^\d+ records sent, [\d.]+ records/sec|^start\.time, end\.time, "
    r"|^Created topic \S+\.$|^Metadata for (?:all topics|\S+) \(from broker|^ClusterId: +\S+$"
)
_STATUS = regex(r"\"connector\"\s*:\s*\{\s*\"state\"\s*:\s*\"[A-Z]+\"")
_FAILED = regex(r"\"state\"\s*:\s*\"FAILED\"")


def recognise(head: Head) -> bool:
    """True when a line is a command of Kafka's tools or their answer, or all is a connector's status."""
    lines = console.plain_lines(head)
    status = _STATUS.search(head.text) is not None and '"trace"' not in head.text
    return status or any(_COMMAND.search(li) or _ANSWER.search(li) for li in lines)


def parse(lines: Lines, about: About) -> Items:
    """An event for each error of a tool and each task that failed; all else is the tool's answer."""
    for one in console.shown(lines, about):
        if _FAILED.search(one.plain):
            yield Data(one.line, (EVENTS.row(at=one.at, system="kafka", kind="task-killed"),))
        else:
            yield Data(one.line, (one.error,)) if one.error else Noise(one.line)
