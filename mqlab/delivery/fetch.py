"""What there is to say where nothing can be audited, and which commands fetch what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mqlab.commands import commands
from mqlab.facts import Facts
from mqlab.scope import systems

_FETCH = (
    (r"__consumer_offsets|commits? of the group", "kafka-offsets-dump"),
    (r"\bledgers?\b", "kafka-client-ledger"),
    (r"\bids?( are)? in the(ir)? log\b|\bkeys\b", "kafka-keys"),
    (r"\bdump(?! which)|\bsegments?\b|kafka-dump-log", "kafka-segment"),
    (r"\bbrokers?'? logs?\b|logs? of (the|all|every) brokers?|state-change|server\.log", "kafka-broker-logs"),
    (r"\blog starts?\b|earliest", "kafka-log-start"),
    (r"\blog ends?\b|latest|\bend offsets?\b|kafka-get-offsets", "kafka-log-end"),
    (r"\bpositions?\b|\bcommitted offsets?\b|consumer-groups", "kafka-groups"),
    (r"\b(consumers?|clients?|producers?)'? logs?\b|logs? of (the|all|its) (consumers?|clients?|producers?)",
     "kafka-client-log"),
    (r"\backs\b|\bsettings? of the (producer|consumer|client)|auto\.offset\.reset", "kafka-client-settings"),
    (r"\breplicas?\b|\breplication factor\b|topics --describe", "kafka-topics"),
    (r"retention|min\.insync|unclean\.leader|cleanup\.policy|settings? of the topic", "kafka-topic-configs"),
)  # fmt: skip
"""Words, and the name of the command in ``commands.toml``."""


def commands_for(missing: Iterable[str]) -> tuple[str, ...]:
    """What to type, each command once, in the order in which they are asked for."""
    known = commands()
    names = [name for words in missing for sign, name in _FETCH if re.search(sign, words, re.IGNORECASE)]
    return tuple(known[name].line for name in dict.fromkeys(names))


def nothing(facts: Facts, topic: str | None = None) -> str:
    """Why there is no topic to audit, in a sentence."""
    if "kafka" not in systems(facts):
        return "Nothing in this material is of Kafka, so that there is no delivery to audit."
    told = "no ledger tells what was acknowledged or handled, no dump which ids are in the log"
    about = f" of {topic}" if topic else ""
    return (
        f"This material cannot say whether messages{about} were lost: {told}, and the logs of the brokers do not say "
        "that a partition went back."
    )
