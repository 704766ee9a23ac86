"""The first hour of an incident: read-only commands per broker, what rotates away first on top."""

from __future__ import annotations

from collections.abc import Iterable

from mqlab.commands import commands, read_toml
from mqlab.errors import MqlabError


class UnknownSystemError(MqlabError):
    """There is no checklist for this system."""

    def __init__(self, system: str, known: Iterable[str]) -> None:
        super().__init__(f"No checklist for {system!r}. Known: {', '.join(known)}.")


def checklist(system: str) -> str:
    """What to run in the first hour on *system*: kafka, rocketmq or mqtt.

    Raises:
        UnknownSystemError: there is no checklist for it.
    """
    every = read_toml("checklist.toml")
    if system not in every:
        raise UnknownSystemError(system, every)
    known, own = commands(), every[system]
    lines = [
        f"# First hour of an incident on {system}: read-only, what rotates away first on top.",
        "# Each output is saved under a name that bears the UTC moment; gather all in one folder and give it to mqlab.",
        f"# {own['hint']}",
        "# Set first:",
        *(f"#   {variable}" for variable in own["variables"]),
    ]
    for number, name in enumerate(own["steps"], start=1):
        lines += ["", f"# {number}. {known[name].why}", known[name].line]
    return "\n".join(lines) + "\n"
