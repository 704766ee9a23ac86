"""How people name brokers of the lab: ``mosquitto``, ``kafka:3.9:3``, ``kafka 4.1``, ``4.1`` that only Kafka has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from mqlab.lab.brokers.base import Wanted
from mqlab.lab.brokers.registry import BUILDERS
from mqlab.lab.distributions import known
from mqlab.lab.errors import LabError
from mqlab.units import by_number

_EXAMPLES = "write kafka:3.9, kafka:4.1:3 for three nodes, rocketmq:5.1, mosquitto or hivemq"


def versions(software: str) -> dict[str, str]:
    """The full version behind each short one that the lab has of *software*, oldest first; none of Mosquitto."""
    found = {}
    for name, (artifacts, _) in known().items():
        of, _, version = name.rpartition("-")
        if of == software:
            found[version] = artifacts[0].rpartition(":")[2]
    return dict(sorted(found.items(), key=lambda entry: by_number(entry[0])))


def settled(software: str, version: str = "") -> str:
    """The lab's own name of a *version*, such as 3.9 for 3.9.1 or 4.1 for 4; without one the newest.

    Raises:
        LabError: the lab does not have it.
    """
    offered = versions(software)
    if not version:
        return next(reversed(offered), "")
    if fitting := [short for short, full in offered.items() if f"{full}.".startswith(f"{version}.")]:
        return fitting[-1]
    if not offered:
        raise LabError(f"The lab starts the installed {software}: write {software} without a version.")
    raise LabError(f"The lab has no {software} {version}. Known: {', '.join(offered)}.")


def named(words: Sequence[str]) -> list[Wanted]:
    """The brokers that *words* name; two of one software are told apart by their versions.

    Raises:
        LabError: a word names no broker of the lab, more than one, or one that is named already.
    """
    texts: list[str] = []
    for word in words:
        if not re.match(r"\d", word):
            texts.append(word)
        elif texts and versions(texts[-1]):
            texts[-1] += f":{word}"
        else:
            texts.append(f"{_owner(word)}:{word}")
    wanted = [_one(text) for text in texts]
    several = Counter(one.software for one in wanted)
    wanted = [
        replace(one, name=f"{one.software}-{one.version}") if several[one.software] > 1 else one for one in wanted
    ]
    if twice := [label for label, count in Counter(one.label for one in wanted).items() if count > 1]:
        raise LabError(f"{twice[0].rstrip('-')} is named twice: for more nodes of one cluster, {_EXAMPLES}.")
    return wanted


def _one(text: str) -> Wanted:
    software, _, rest = text.partition(":")
    version, _, nodes = rest.partition(":")
    if software not in BUILDERS or not re.fullmatch("([1-9][0-9]?)?", nodes):
        raise LabError(f"{text} is not a broker of the lab: {_EXAMPLES}.")
    return Wanted(software, settled(software, version), int(nodes or 1))


def _owner(number: str) -> str:
    """The one software that has a version with this *number*."""
    version = number.partition(":")[0]
    owners = [of for of in BUILDERS if any(f"{full}.".startswith(f"{version}.") for full in versions(of).values())]
    if len(owners) != 1:
        offered = "; ".join(f"{of} {', '.join(versions(of))}" for of in BUILDERS if versions(of))
        means = f"may be {' or '.join(owners)}" if owners else "is not a version of a broker of the lab"
        raise LabError(f"{version} {means}: {_EXAMPLES}. The lab has {offered}.")
    return owners[0]
