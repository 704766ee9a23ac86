"""What a module in this folder offers, and the words it answers with."""

from __future__ import annotations

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


class Detector(Protocol):
    """A class of incident and the rule that recognises it."""

    INCIDENT: str
    SYSTEMS: tuple[str, ...]
    """Systems whose material the rule understands: kafka, rocketmq, mqtt."""

    def detect(self, facts: Facts) -> Result:
        """What this material says about the class."""
        ...
