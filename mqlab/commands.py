"""Read-only commands that gather what mqlab reads, and which of them to run in the first hour of an incident.

They stand in ``commands.toml`` and ``checklist.toml``; what rotates away first is on top of a checklist.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from importlib import resources
from typing import Any

from mqlab import plugins
from mqlab.errors import MqlabError
from mqlab.plugins import remembered
from mqlab.plugins.entries import ensure_fits

STAMP = "$(date -u +%Y%m%dT%H%M%SZ)"
"""The moment in the name of a saved output: command outputs do not say when they were taken."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command, the file to save it to, and why."""

    name: str
    system: str
    """kafka, rocketmq, mqtt, or any."""
    run: str
    file: str
    why: str
    software: str = ""
    """The only product that has it; empty where any of its system will do."""

    @property
    def line(self) -> str:
        """What to type: the output goes to a file that bears the UTC moment."""
        stem, _, suffix = self.file.partition(".")
        stamped = f"{stem}.{STAMP}.{suffix}"
        if "{file}" in self.run:
            return self.run.replace("{file}", stamped)
        return f'{self.run} > "{stamped}" 2>&1' if "$" in self.file else f"{self.run} > {stamped} 2>&1"


def usable(command: Command, systems: Collection[str], software: Collection[str]) -> bool:
    """It is for one of *systems*, and for no other product than *software*, or than any where that is empty."""
    elsewhere = command.software and software and command.software not in software
    return command.system in (*systems, "any") and not elsewhere


def read_toml(name: str) -> dict[str, Any]:
    """A file of texts of the package."""
    return tomllib.loads(resources.files("mqlab").joinpath(name).read_text(encoding="utf-8"))


@remembered
def commands() -> dict[str, Command]:
    """Every command by its name."""
    known = {name: Command(name=name, **entry) for name, entry in read_toml(plugins.COMMANDS).items()}
    for name, entry in plugins.tables(plugins.COMMANDS).items():
        ensure_fits(plugins.COMMANDS, name, entry, Command, {}, ("name",))
        known[name] = Command(name=name, **entry)
    return known


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


def checklists() -> str:
    """Which checklists there are, how long each is and what to type."""
    lines = [
        f"mqlab checklist {system:<10} {len(own['steps'])} commands"
        for system, own in read_toml("checklist.toml").items()
    ]
    return (
        "\n".join(["What to run in the first hour of an incident; nothing of it changes anything.", "", *lines]) + "\n"
    )
