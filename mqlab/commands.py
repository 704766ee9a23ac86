"""Read-only commands that gather what mqlab reads, from ``commands.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

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

    @property
    def line(self) -> str:
        """What to type: the output goes to a file that bears the UTC moment."""
        stem, _, suffix = self.file.partition(".")
        stamped = f"{stem}.{STAMP}.{suffix}"
        if "{file}" in self.run:
            return self.run.replace("{file}", stamped)
        return f'{self.run} > "{stamped}" 2>&1' if "$" in self.file else f"{self.run} > {stamped} 2>&1"


def read_toml(name: str) -> dict[str, Any]:
    """A file of texts of the package."""
    return tomllib.loads(resources.files("mqlab").joinpath(name).read_text(encoding="utf-8"))


@cache
def commands() -> dict[str, Command]:
    """Every command by its name."""
    return {name: Command(name=name, **entry) for name, entry in read_toml("commands.toml").items()}
