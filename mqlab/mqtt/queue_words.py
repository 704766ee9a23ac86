"""What is told of a session whose queue dropped messages."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab import units
from mqlab.facts import Facts
from mqlab.mqtt import software
from mqlab.mqtt.queue_case import MIXED, QueueCase
from mqlab.mqtt.sessions import END
from mqlab.questions.wording import clock


def limit_words(facts: Facts, case: QueueCase) -> str:
    """The limit of the queue, and where it comes from."""
    if case.queue is None:
        return "not known"
    if case.queue.limit is None:
        return "none"
    told = software.limit_told(facts, case.broker)
    product = " ".join(w for w in (software.software(facts, case.broker), software.version(facts, case.broker)) if w)
    return f"{units.number(case.queue.limit)} messages" + ("" if told else f" (default of {product})")


def statement(facts: Facts, case: QueueCase, lost: float | None, proofs: Sequence[str]) -> str:
    """Two or three sentences: whose queue is full and why, what is lost, how that is known."""
    return f"{_full(facts, case)} {_lost(case, lost)}{_known(proofs)}"


def _full(facts: Facts, case: QueueCase) -> str:
    limit = limit_words(facts, case)
    holds = (
        f"its queue holds {limit}" if case.queue is not None and case.queue.limit is not None else "its queue is full"
    )
    spans = [(a, b) for a, b in case.away if case.span is None or (a <= case.span[1] and case.span[0] <= b)]
    if case.was_away and spans:
        a, b = spans[0]
        until = "and did not come back" if b == END else f"until {clock(b)}"
        return f"{case.client_id} was away from {clock(a)} {until}, and {holds}."
    if case.was_away:
        return f"{case.client_id} is away, and {holds}."
    if case.silent:
        return f"Nobody reads the messages of {case.client_id} any more, and {holds}; no line tells when it left."
    if case.session is None:
        return f"What {case.client_id} gets is more than it takes, or it is away, which no line tells; {holds}."
    return f"{case.client_id} is connected but slower than what comes in, and {holds} besides what is in flight."


def _lost(case: QueueCase, lost: float | None) -> str:
    if lost is None:
        return "The broker drops what does not fit."
    text = f"{units.counted(round(lost), 'message')} were dropped"
    if case.account is not None and case.missing is not None:
        text += f" of {units.number(case.account.published)} published for it"
    if case.kept is not None and case.kept != MIXED:
        text += f"; of what came while it was away the {case.kept} {units.number(round(case.survivors))} survived"
    return f"{text}."


def _known(proofs: Sequence[str]) -> str:
    if not proofs:
        return " No second count confirms it."
    return f" {proofs[0][:1].upper()}{proofs[0][1:]}" + "".join(f", and {p}" for p in proofs[1:]) + "."
