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
from mqlab.verbs.material import between, common, deliver, opened


@click.command()
@common
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the result to this file.")
def rebalances(form: str, output: str | None, **material: Any) -> int:
    """List the rebalances of Kafka's consumer groups: trigger, what is behind it, standstill, delayed and repeated."""
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


@click.command("what-if")
@common
@click.option(
    "--set", "pairs", multiple=True, metavar="KEY=VALUE", help="max.poll.records=50, max.poll.interval.ms=60000, …"
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the result to this file.")
def whatif(pairs: tuple[str, ...], form: str, output: str | None, **material: Any) -> int:
    """Replay a Kafka consumer group from the material with other settings: rebalances, longest poll, lag.

    What can be set: max.poll.records, max.poll.interval.ms, session.timeout.ms, heartbeat.interval.ms,
    partition.assignment.strategy, group.protocol, group.initial.rebalance.delay.ms, threads (that share a poll),
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
    found = replay(capture.facts, group, asked, since, until)
    if form == "json":
        told = {"schema": WHAT_IF_SCHEMA, **asdict(found), "feasible": found.fit_after.feasible}
        text = json.dumps(told, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    else:
        text = whatif_screen(found, zone)
    deliver(text, output)
    return 0


DRAIN_SCHEMA = "mqlab.drain/1"
_UNITS: Mapping[str, Mapping[str, float]] = {
    "backlog": COUNT, "inflow": COUNT, "capacity": COUNT, "load": COUNT, "message_size": BYTES,
    "response_time": SECONDS, "pull_time": SECONDS, "retention": SECONDS, "oldest": SECONDS, "step": SECONDS,
    "restart": SECONDS,
    "queues": COUNT, "threads": COUNT, "instances": COUNT, "batch": COUNT, "reserve": COUNT,
    "writes_per_message": COUNT,
}  # fmt: skip
_WHOLE = ("queues", "threads", "instances", "batch")


@click.command()
@common
@click.option("--backlog", metavar="N", help="Messages that wait: 5000, 300M.")
@click.option("--inflow", metavar="RATE", help="New messages per second.")
@click.option("--queues", metavar="N", help="Queues of the topic.")
@click.option("--capacity", metavar="RATE", help="Writes per second that the store takes, measured. Asks for a plan.")
@click.option("--load", metavar="RATE", help="Writes per second of its normal load, without this group.")
@click.option("--reserve", metavar="SHARE", help="Share of the capacity that stays free (0.3).")
@click.option("--writes-per-message", metavar="N", help="Writes that one message causes (1).")
@click.option("--response-time", metavar="TIME", help="What the listener takes for one message at that load: 20ms.")
@click.option("--threads", metavar="N", help="Threads of each instance as it runs now.")
@click.option("--instances", metavar="N", help="Processes, ids unique; queues are dealt among them in blocks.")
@click.option("--orderly", is_flag=True, help="Orderly mode: one thread at a time per queue.")
@click.option("--batch", metavar="N", help="pullBatchSize (32).")
@click.option("--pull-time", metavar="TIME", help="Round trip of one pull (5ms).")
@click.option("--message-size", metavar="SIZE", help="Bytes of a message: 1kB.")
@click.option("--retention", metavar="TIME", help="fileReservedTime of the broker (48h).")
@click.option("--oldest", metavar="TIME", help="Age of the oldest message that waits.")
@click.option("--step", metavar="TIME", help="How long each step of the ramp is watched (5min).")
@click.option("--restart", metavar="TIME", help="What restart and rebalance take before the drain begins.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the result to this file.")
def drain(form: str, output: str | None, orderly: bool, **given: Any) -> int:
    """Forecast how long a backlog takes, and plan its drain into a store that has other work.

    Backlog, inflow and owners come from the material where PATHs are given; options win.
    """
    from mqlab.clocks.zones import parse_zone
    from mqlab.scenarios.drain import answer
    from mqlab.screens.groups import drain_screen

    asked = _request(given, orderly)
    material = {name: value for name, value in given.items() if name not in _UNITS}
    if material["paths"]:
        capture, zone = opened(**material)
        found = answer(asked, capture.facts)
    else:
        zone = UTC if material["tz"] == "UTC" else parse_zone(material["tz"])
        found = answer(asked)
    if form == "json":
        told = {"schema": DRAIN_SCHEMA, **asdict(found), "measured_seconds": found.measured_seconds}
        text = json.dumps(_plain(told), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    else:
        text = drain_screen(found, zone)
    deliver(text, output)
    return 0


def _request(given: Mapping[str, Any], orderly: bool) -> Request:
    """The options as numbers.

    Raises:
        BadQuantityError: one of them is none.
    """
    read: dict[str, Any] = {}
    for name, units in _UNITS.items():
        if given[name] is not None:
            option = f"--{name.replace('_', '-')}"
            value = amount(option, given[name], units)
            if name in _WHOLE and not value.is_integer():
                raise BadQuantityError(f"{option} must be a whole number, not {given[name]}.")
            read[name] = int(value) if name in _WHOLE else value
    return Request(group=given["group"], orderly=orderly, **read)


def _plain(value: Any) -> Any:
    """JSON has no infinity: what never happens is null."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


# Everything may come from options, so the paths that other commands must have are optional here.
_PATHS = next(parameter for parameter in drain.params if parameter.name == "paths")
_PATHS.required, _PATHS.metavar = False, "[PATH...]"
