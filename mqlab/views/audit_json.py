"""The delivery audit and the way of MQTT messages as JSON (schema ``mqlab.audit/1``), and that way in sentences.

The same facts give the same bytes; times in UTC, null for what the material does not say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from enum import Enum
from itertools import groupby
from typing import Any

from mqlab.commands import commands
from mqlab.delivery.path import NOT_TOLD, bounded, by_number
from mqlab.delivery.risk_rates import Risk
from mqlab.delivery.rows import Audit
from mqlab.facts import Facts
from mqlab.mqtt.chain import FOR_NOBODY
from mqlab.mqtt.chain_stages import BY_IDS, GONE, Chain, Gap, Stage, Step, Whereabouts
from mqlab.scope import systems
from mqlab.units import iso
from mqlab.words import Text, fetched_by, listed, room

say = room("chain")

LOST, WAITING, UNKNOWN, COMPLETE = "lost", "waiting", "cannot say", "nothing lost"
_SYSTEMS = {"kafka": "Kafka", "rocketmq": "RocketMQ"}


def outcome(chain: Chain) -> str:
    """``LOST`` where messages were thrown away, ``UNKNOWN`` where nothing tells where some are, else what is left."""
    sure = [g for g in chain.gaps if g.where in GONE and g.low]
    open_ = (Whereabouts.UNKNOWN, Whereabouts.DROPPED, Whereabouts.AFTER_END, Whereabouts.BEFORE_BEGIN)
    guessed = any(g.where is Whereabouts.SHARED and g.low < g.messages for g in chain.gaps)
    if sure:
        return LOST
    if guessed or any(
        g.where in open_ or (g.where is Whereabouts.REFUSED and g.before is Step.HANDLED) for g in chain.gaps
    ):
        return UNKNOWN
    if any(g.where in (Whereabouts.QUEUED, Whereabouts.PENDING) for g in chain.gaps):
        return WAITING
    heard = any(stage.step in (Step.TAKEN, Step.HANDLED) for stage in chain.stages)
    return COMPLETE if chain.by == "ids" and heard else UNKNOWN


def title(chain: Chain) -> str:
    """From where to where."""
    return f"MQTT -> {log(chain)}" if chain.system else "MQTT"


def log(chain: Chain) -> str:
    """The log behind the bridge: ``Kafka orders``."""
    return f"{_SYSTEMS.get(chain.system or '', chain.system or '')} {chain.topic or ''}".strip()


def sentence(chain: Chain, tz: tzinfo = UTC, most: int = 4) -> Text:
    """All stages, then what is missing and where: ``published 7,120 -> bridge 5,640 -> …; 1,480 in the queue of …``."""
    path = listed((listed((_stage(chain, stage) for stage in beside), ", ") for beside in _stages(chain)), " -> ")
    gaps = [missing(gap, tz) for gap in chain.gaps[:most]]
    if len(chain.gaps) > most:
        gaps.append(say("more", more=len(chain.gaps) - most))
    nobody = next(
        (one.values["messages"] for one in chain.notes if isinstance(one, Text) and one.key == FOR_NOBODY), None
    )
    return say("way", path=path, gaps=gaps, ids=chain.by == "ids", for_nobody=nobody)


def _stages(chain: Chain) -> Iterator[list[Stage]]:
    """Stages that stand beside each other, such as several readers; without acknowledgements that tell nothing.

    Those are of all that was published, or of a part of it: of QoS 0 nobody acknowledges anything.
    """
    sent = chain.stage(Step.PUBLISHED)
    for step, own in groupby(chain.stages, key=lambda stage: stage.step):
        together = list(own)
        idle = sent is not None and (together[0].messages == sent.messages or together[0].how != BY_IDS)
        if not (step is Step.ACKNOWLEDGED and idle):
            yield together


def _stage(chain: Chain, stage: Stage) -> Text:
    return say("reached", name=name(chain, stage), messages=amount(stage), again=stage.again or None)


def name(chain: Chain, stage: Stage) -> str:
    """Who that stage is."""
    if stage.step is Step.TAKEN:
        return say("bridge") if chain.system else stage.who
    if stage.step is Step.STORED:
        return log(chain)
    return stage.who if stage.step is Step.HANDLED else say("step", step=stage.step)


def amount(stage: Stage) -> str:
    """How many, with the interval where they were not counted."""
    if stage.messages is None or stage.low is None or stage.high is None:
        return NOT_TOLD
    return bounded(stage.messages, stage.low, stage.high)


def missing(gap: Gap, tz: tzinfo = UTC) -> Text:
    """How many are missing at one step, and where they are."""
    return say(
        "gap",
        where=gap.where,
        before=gap.before,
        who=gap.who,
        messages=gap.messages,
        bounded=bounded(gap.messages, gap.low, gap.high),
        whole=gap.low == gap.messages,
        at_least=gap.low if gap.low < gap.messages else None,
        since=None if gap.away_since is None else f"{datetime.fromtimestamp(gap.away_since, tz):%H:%M:%S}",
        by_publisher=gap.before is Step.ACKNOWLEDGED,
    )


def worst(chains: Sequence[Chain]) -> list[Chain]:
    """Those with losses first."""
    order = (LOST, UNKNOWN, WAITING, COMPLETE)
    return sorted(chains, key=lambda chain: (order.index(outcome(chain)), chain.topic or ""))


_STAGE = "stage=step who messages at_least=low at_most=high copies=again how since until shares evidence"
_GAP = "after before where who messages at_least=low at_most=high how since until offline_since=away_since evidence"
_LOG = (
    "partition=queue sent acknowledged=acked failed failed_but_stored=failed_stored unanswered stored lost doubled "
    "log_start=start log_end=end"
)
_GROUP = (
    "group partition=queue handled times_handled=times committed_offset=committed pending lost doubled unknown "
    "skipped_by_hand=by_hand set_aside=aside before_group=earlier"
)
_LOSS = (
    "incident side group partition=queue records at_least=least at_most=most first_offset last_offset since until how "
    "evidence"
)
_DOUBLED = "incident side group partition=queue records extra at_least=least at_most=most since until how evidence"
_RISK = "setting owner value effective may incident records at_least=low at_most=high how due_seconds evidence"
_MOMENTS = ("since", "until", "away_since")


def _fields(row: object, names: str) -> dict[str, Any]:
    """Fields of *row*, ``key=field`` where JSON calls one otherwise."""
    pairs = [(name.partition("=")[0], name.rpartition("=")[2]) for name in names.split()]
    return {key: _value(field, getattr(row, field)) for key, field in pairs}


def _value(field: str, value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if field in _MOMENTS:
        return iso(value)
    if field == "who":
        return value or None
    if field == "evidence":
        return [{"source": place.source, "line": place.line, "text": place.text} for place in value]
    if field == "shares":
        return [{"who": share.who, "messages": share.messages, "source": share.place} for share in value]
    if field == "due_seconds" and value is not None:
        return round(value, 3)
    return value


def chain_json(chain: Chain) -> dict[str, Any]:
    """One way with its stages and what is missing."""
    return {
        "system": chain.system,
        "topic": chain.topic,
        "bridge": list(chain.bridge),
        "by": chain.by,
        "outcome": outcome(chain),
        "statement": sentence(chain),
        "stages": [_fields(stage, _STAGE) for stage in chain.stages],
        "missing": [_fields(gap, _GAP) for gap in chain.gaps],
        "notes": list(chain.notes),
    }


def commands_for(missing: Iterable[str]) -> tuple[str, ...]:
    """What to type, each command once, in the order in which they are asked for."""
    known = commands()
    return tuple(known[name].line for name in dict.fromkeys(name for text in missing for name in fetched_by(text)))


def nothing(facts: Facts, topic: str | None = None) -> Text:
    """Why there is no topic to audit, in a sentence."""
    why = room("audit-json")
    if not facts.whole:
        return why("cut-out")
    ledgers = sorted({part.source for part in facts.parts if not part.topic})
    told = {"topic": topic or None, "ledgers": ledgers or None}
    return why("not-told", **told) if "kafka" in systems(facts) else why("no-kafka")


SCHEMA = "mqlab.audit/1"


def dumps(audits: Sequence[Audit], because: str = "", risks: Sequence[Risk] = (), ways: Sequence[Chain] = ()) -> str:
    """The JSON text of the audit of each topic and of settings; times in UTC, null for what the material does not say.

    *because* says why there is no topic; *ways* are those of MQTT messages, which are told where there are any.
    """
    topics = [_topic(audit) for audit in sorted(audits, key=lambda audit: audit.topic)]
    document = {
        "schema": SCHEMA,
        "topics": topics,
        "because": None if topics or ways else because,
        "risks": [_fields(risk, _RISK) for risk in risks],
        **({"mqtt": [chain_json(way) for way in ways]} if ways else {}),
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _topic(audit: Audit) -> dict[str, Any]:
    groups = sorted(audit.groups, key=lambda row: (row.group, by_number(row.queue)))
    return {
        "topic": audit.topic,
        "outcome": audit.outcome.value,
        "statement": audit.statement,
        "partitions": [_fields(row, _LOG) for row in sorted(audit.log, key=lambda row: by_number(row.queue))],
        "groups": [_fields(row, _GROUP) for row in groups],
        "losses": [_fields(one, _LOSS) for one in audit.losses],
        "doubled": [_fields(one, _DOUBLED) for one in audit.doubled],
        "missing": list(audit.missing),
        "fetch": list(commands_for(audit.missing)),
    }
