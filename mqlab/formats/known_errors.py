"""Lines that name their trouble outright, in any log: signatures from the table ``mqlab/known_errors.toml``.

Sample lines::

    … WARN [Producer clientId=p] Connection to node 1 (kafka-1/172.20.0.4:9092) could not be established. Node may …
    java.io.IOException: No space left on device
    1772439661: Error creating bridge: Connection refused.

They come after the signatures of all formats: what a format says better keeps its kind.
"""

from __future__ import annotations

from mqlab.formats import kafka_layout
from mqlab.formats.base import Signature, Spec
from mqlab.known_errors import known_errors
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS

SPEC = Spec("known-errors", Role.APPLICATION_LOG, (EVENTS,), "", Reading.LOG, "os", kafka_layout.LAYOUT)
"""No format of files: what holds for these lines wherever they stand."""


RECOVERED = "recovered"
"""What was waited for came: a leader, a session, the tables of other nodes, the end of a start."""
ANSWERS = "broker-answers"
"""A broker is reached by a controller or known to a name server that had missed it."""
SERVES = "serves"
"""A broker takes part in its cluster, or a thread of Streams or a consumer of Sarama has its work."""
_WELL = (
    (ANSWERS, "kafka", r"Controller \d+ connected to (?P<peer>\S+ \([^)]*\)) for sending state change requests"),
    (ANSWERS, "rocketmq", r"new broker registered, (?P<peer>[^\s,]+)"),
    (SERVES, "kafka", r"The broker has been unfenced\b"),
    (SERVES, "kafka", r"(?:stream-(?:thread|client) \[[^\]]*\] )?State transition from \w+ to RUNNING\b"),
    (SERVES, "kafka", r"consumer/broker/\d+ added subscription to (?P<topic>\S+)/(?P<queue>\d+)"),
    (RECOVERED, "kafka", r"Completed transition to (?P<reason>Leader|Follower)"),
    (RECOVERED, "kafka", r"Session establishment complete on server (?P<peer>\S+)"),
    (RECOVERED, "mqtt", r"(?P<reason>Successfully synced tables from a peer|Server startup complete)"),
    (RECOVERED, "mqtt", r"EMQX \S+ is running now"),
    (RECOVERED, "rocketmq", r"\[[\w.-]+\] ?\[ChangeRoleTo(?P<reason>Leader|Follower)\]"),
)


def signatures() -> tuple[Signature, ...]:
    """A signature for each known error that has a pattern of its own, and for what says that it went well."""
    errors = tuple(
        Signature(error.kind, begins=error.begins, contains=error.contains, needs=error.needs, system=error.system)
        for error in known_errors().values()
        if not error.event
    )
    return (*errors, *(Signature(kind, begins=begins, system=system) for kind, system, begins in _WELL))
