"""A broker's process ended that nobody stopped: it was killed, crashed, ran out of memory or halted by itself.

Fires: a broker's log goes on with a new process, without the lines of a stop before it; or it falls silent and others
lead its partitions at once; or its last line says that it halts. Proven where another source agrees: others led its
partitions meanwhile, a controller or clients missed it, or the next start recovers what an orderly stop leaves clean.
Quiet: a stop in good order, and any restart by one; a log that ends with the material, begins after the end of the old
process or is an excerpt; a start that failed before it served; a clock that went back; a broker that others miss and
whose log goes on. What ended the process is only told where its own last line names it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Finding, Result, Severity, finding
from mqlab.known_errors import words as meanings
from mqlab.shared.actors import folder
from mqlab.sources import Role
from mqlab.symptoms.crashes import Crash, crashes
from mqlab.symptoms.deaths import BROKER, deaths
from mqlab.words.filling import Value

INCIDENT = "broker-crash"
SYSTEMS: tuple[str, ...] = ("kafka", "rocketmq", "mqtt")
say = words.room(INCIDENT)

_SHOWN = 3
_BRINGS = ("reconnect-storm", "under-min-isr", "retry-amplification", "redelivery-storm", "retained-replay-storm")


def detect(facts: Facts) -> Result:
    """One finding for each broker that crashed."""
    by_broker: dict[tuple[str, str], list[Crash]] = defaultdict(list)
    for one in crashes(facts):
        by_broker[one.who, folder(one.evidence[0].source)].append(one)
    if by_broker:
        return Result(tuple(_finding(own) for _, own in sorted(by_broker.items())))
    if any(one.kind == BROKER for one in deaths(facts)):
        return Result(missing=(say("not-whole"),))
    return CLEAR if any(c.role is Role.BROKER_LOG for c in facts.coverage) else Result(missing=(say("no-log"),))


def _finding(own: Sequence[Crash]) -> Finding:
    last = own[-1]
    clients = frozenset[str]().union(*(one.clients for one in own))
    partitions = frozenset[object]().union(*(one.partitions for one in own))
    return finding(
        INCIDENT,
        last.who,
        Certainty.PROVEN if all(one.others for one in own) else Certainty.LIKELY,
        (own[0].since, last.back),
        severity=Severity.CRITICAL if clients or partitions else Severity.WARNING,
        slots=_slots(own),
        measures={
            "crashes": len(own),
            "clients": len(clients) or None,
            "partitions": len(partitions) or None,
        },
        evidence=[
            *(one.said.last.because(say("said")) for one in own if one.said is not None),
            *(place for one in own[-_SHOWN:] for place in (*one.evidence, *one.others[:_SHOWN])),
        ],
        explains=_BRINGS,
        cause_ended=last.back,
    )


def _slots(own: Sequence[Crash]) -> dict[str, Value]:
    """When it was heard of and back, who led meanwhile, and what it said last."""
    last = own[-1]
    said = [one.said for one in own if one.said is not None]
    return {
        "several": len(own) > 1,
        "gone": last.back is None,
        "heard": last.since,
        "taken": last.until,
        "back": last.back,
        "begins": last.begins,
        "said": meanings()[said[-1].kind] if said else None,
        "said_at": said[-1].first_at if said else None,
    }
