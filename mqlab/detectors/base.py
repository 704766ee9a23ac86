"""What a module in this folder offers, and the words it answers with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from mqlab.facts import Facts
from mqlab.findings import Finding


@dataclass(frozen=True, slots=True)
class Result:
    """Exactly one of: findings, rejected (because), not checked (missing); none of them means clear."""

    findings: tuple[Finding, ...] = ()
    rejected: str | None = None
    missing: tuple[str, ...] = ()


CLEAR = Result()


def together(results: Iterable[Result]) -> Result:
    """What several subjects' results make: their findings, else what is missing, else why there are none."""
    every = tuple(results)
    found = tuple(finding for result in every for finding in result.findings)
    missing = tuple(dict.fromkeys(what for result in every for what in result.missing))
    if found or missing:
        return Result(found) if found else Result(missing=missing)
    return Result(rejected="; ".join(result.rejected for result in every if result.rejected) or None)


class Detector(Protocol):
    """A class of incident and the rule that recognises it."""

    INCIDENT: str
    SYSTEMS: tuple[str, ...]
    """Systems whose material the rule understands: kafka, rocketmq, mqtt."""

    def detect(self, facts: Facts) -> Result:
        """What this material says about the class."""
        ...
