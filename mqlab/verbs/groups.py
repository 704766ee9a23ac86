"""``mqlab rebalances``, ``mqlab what-if``, ``mqlab drain``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC
from math import isfinite
from typing import Any

import click

from mqlab.quantities import BYTES, COUNT, SECONDS, BadQuantityError, amount
from mqlab.scenarios.drain import Request
from mqlab.verbs.helping import Verb
from mqlab.verbs.material import Command, between, common, deliver, opened, written


@click.command(cls=Verb)
@common
@written
def rebalances(form: str, output: str | None, **material: Any) -> int:
    """List the rebalances of Kafka groups: trigger, cause, cost.

    The cost is the time that no member worked, and the records that were delayed or handled twice.
    """
    from mqlab.kafka.groups import chosen
    from mqlab.kafka.rebalances import history
    from mqlab.screens.groups import rebalances_screen
    from mqlab.views.kafka_group import rebalances_json

    wanted = material.pop("group")
    capture, zone = opened(group=None, **material)
    histories = [(group, history(capture.facts, group)) for group in chosen(capture.facts, wanted)]
    deliver(rebalances_json(histories) if form == "json" else rebalances_screen(histories, zone), output)
    return 0


WHAT_IF_SCHEMA = "mqlab.what-if/1"


@click.command("what-if", cls=Verb)
@common
@click.option(
    "--set", "pairs", multiple=True, metavar="KEY=VALUE", help="max.poll.records=50, max.poll.interval.ms=60000, …"
)
@written
def whatif(pairs: tuple[str, ...], form: str, output: str | None, **material: Any) -> int:
    """Replay a Kafka consumer group with other settings.

    Shows rebalances, the longest poll and lag. What can be set: max.poll.records, max.poll.interval.ms,
    session.timeout.ms, heartbeat.interval.ms, partition.assignment.strategy, group.protocol,
    group.initial.rebalance.delay.ms, threads (that share a poll),
    members, record.ms (time per record). Without --set it replays what was. --since and --until bound the replay; by
    default it is the incident: from the first late poll to the first change.
    """
    from mqlab.kafka.groups import chosen
    from mqlab.scenarios.replay import replay
    from mqlab.scenarios.replay_changes import changes
    from mqlab.screens.groups import whatif_screen

    asked = changes(pairs)
    since, until = between(material.pop("since"), material.pop("until"))
    group = material.pop("group")
    capture, zone = opened(since=None, until=None, group=None, **material)
    if group is not None:
        chosen(capture.facts, group)
    answer = replay(capture.facts, group, asked, since, until)
    if form == "json":
        document = {"schema": WHAT_IF_SCHEMA, **asdict(answer), "feasible": answer.fit_after.feasible}
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    else:
        text = whatif_screen(answer, zone)
    deliver(text, output)
    return 0


DRAIN_SCHEMA = "mqlab.drain/1"
_OPTIONS: dict[str, tuple[Mapping[str, float], str, str]] = {
    "backlog": (COUNT, "N", "Messages in the backlog: 5000, 300M."),
    "inflow": (COUNT, "RATE", "New messages per second."),
    "queues": (COUNT, "N", "Queues of the topic."),
    "capacity": (COUNT, "RATE", "Writes per second that the store sustains, as measured; adds a drain plan."),
    "load": (COUNT, "RATE", "Writes per second of its normal load, without this group."),
    "reserve": (COUNT, "SHARE", "Share of the capacity to keep free (0.3)."),
    "writes_per_message": (COUNT, "N", "Writes that one message causes (1)."),
    "response_time": (SECONDS, "TIME", "The listener's time per message at that load: 20ms."),
    "threads": (COUNT, "N", "Threads of each instance at present."),
    "instances": (COUNT, "N", "Processes with unique client ids; queues are assigned to them in blocks."),
    "batch": (COUNT, "N", "pullBatchSize (32)."),
    "pull_time": (SECONDS, "TIME", "Round trip of one pull (5ms)."),
    "message_size": (BYTES, "SIZE", "Bytes of a message: 1kB."),
    "retention": (SECONDS, "TIME", "fileReservedTime of the broker (48h)."),
    "oldest": (SECONDS, "TIME", "Age of the oldest message in the backlog."),
    "step": (SECONDS, "TIME", "How long to watch each step of the ramp (5min)."),
    "restart": (SECONDS, "TIME", "Time for restart and rebalance before the drain begins."),
}
"""Fields of a request: their units, and what help says of them."""
_WHOLE = ("queues", "threads", "instances", "batch")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _requested(command: Command) -> Command:
    for name, (_, metavar, text) in reversed(_OPTIONS.items()):
        command = click.option(_option(name), metavar=metavar, help=text)(command)
    return command


@click.command(cls=Verb)
@common
@_requested
@click.option("--orderly", is_flag=True, help="Orderly mode: one thread at a time per queue.")
@written
def drain(form: str, output: str | None, orderly: bool, **given: Any) -> int:
    """Forecast how long a backlog takes to drain, and plan it.

    The plan protects a store that also has other load. With PATHs, backlog, inflow and owners come from the material;
    options take precedence.
    """
    from mqlab.scenarios.drain import answer as planned
    from mqlab.screens.groups import drain_screen
    from mqlab.units import parse_zone

    asked = _request(given, orderly)
    material = {name: value for name, value in given.items() if name not in _OPTIONS}
    if material["paths"]:
        capture, zone = opened(**material)
        answer = planned(asked, capture.facts)
    else:
        zone = UTC if material["tz"] == "UTC" else parse_zone(material["tz"])
        answer = planned(asked)
    if form == "json":
        took = answer.measured_seconds
        document = {"schema": DRAIN_SCHEMA, **asdict(answer), "measured_seconds": took.likely if took else None}
        text = json.dumps(_plain(document), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    else:
        text = drain_screen(answer, zone)
    deliver(text, output)
    return 0


def _request(given: Mapping[str, Any], orderly: bool) -> Request:
    """The options as numbers.

    Raises:
        BadQuantityError: one of them is none.
    """
    read: dict[str, Any] = {}
    for name, (units, _, _) in _OPTIONS.items():
        if given[name] is not None:
            value = amount(_option(name), given[name], units)
            if name in _WHOLE and not value.is_integer():
                raise BadQuantityError(f"{_option(name)} must be a whole number, not {given[name]}.")
            read[name] = int(value) if name in _WHOLE else value
    return Request(group=given["group"], orderly=orderly, **read)


def _plain(value: Any) -> Any:
    """JSON has no infinity: what never happens is null."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value


# Everything may come from options, so the paths that other commands must have are optional here.
_PATHS = next(parameter for parameter in drain.params if parameter.name == "paths")
_PATHS.required, _PATHS.metavar = False, "[PATH...]"
