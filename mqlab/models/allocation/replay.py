"""Cases as JSON lines and their answers: what the real classes would return.

Lines look like these (RocketMQ, Kafka), their ``result`` is not read::

    {"case":0,"strategy":"AVG","params":{},"cid_all":["10.0.0.1@7"],"queues":[["t","broker-a",0]],"current_cid":…}
    {"case":0,"assignor":"range","kafka_clients":"3.7.1","group_instance_ids":{},"rounds":[…]}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mqlab.errors import MqlabError
from mqlab.models import assignors
from mqlab.models.allocation.queues import IllegalArgumentError, Queue
from mqlab.models.allocation.strategies import allocate


class BadLineError(MqlabError):
    """A line is no case that can be answered."""

    def __init__(self, line: int, because: str) -> None:
        super().__init__(f"Line {line}: {because}")


def answers(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Answer line by line; a blank line has no answer. ``result`` is None where the Java class throws.

    Raises:
        BadLineError: A line is no JSON, lacks a member, or names an unknown strategy or assignor.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            case = _document(line)
            yield {"case": case.get("case"), "result": _result(case)}
        except MqlabError as error:
            raise BadLineError(number, str(error)) from error


class _MalformedError(MqlabError):
    """What is wrong with the text of a line."""

    def __init__(self, because: str) -> None:
        super().__init__(f"This is no case: {because}.")


def _document(line: bytes) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except ValueError as error:
        raise _MalformedError("it is no JSON") from error
    if not isinstance(document, dict):
        raise _MalformedError("it is JSON, but no object")
    return document


def _result(case: Mapping[str, Any]) -> Any:
    if "assignor" in case:
        return assignors.replay(case)
    if "strategy" in case:
        return _allocated(case)
    raise _MalformedError("it has neither a strategy nor an assignor")


def _allocated(case: Mapping[str, Any]) -> list[Queue] | None:
    """The queues of one client, or None where the Java class throws."""
    strategy = _text(case["strategy"], "strategy")
    client = _text(case.get("current_cid"), "current_cid")
    ids = [_text(item, "cid_all") for item in _list(case.get("cid_all"), "cid_all")]
    queues = [_queue(item) for item in _list(case.get("queues"), "queues")]
    try:
        return allocate(strategy, client, queues, ids, _params(case.get("params", {})))
    except IllegalArgumentError:
        return None


def _params(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _MalformedError(f"params is {value!r} where an object belongs")
    params = dict(value)
    if not isinstance(params.get("virtual_nodes", 0), int):
        raise _MalformedError(f"virtual_nodes is {params['virtual_nodes']!r} where a number belongs")
    for name in params.keys() & {"consumer_idcs"}:
        params[name] = [_text(item, name) for item in _list(params[name], name)]
    for name in params.keys() & {"message_queue_list"}:
        params[name] = [_queue(item) for item in _list(params[name], name)]
    return params


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise _MalformedError(f"{name} holds {value!r} where a text belongs")
    return value


def _list(value: object, name: str) -> list[object]:
    if not isinstance(value, list):
        raise _MalformedError(f"{name} is {value!r} where a list belongs")
    return value


def _queue(value: object) -> Queue:
    match value:
        case [str(topic), str(broker), int(number)]:
            return topic, broker, number
    raise _MalformedError(f"{value!r} is no queue: write [topic, broker, id]")
