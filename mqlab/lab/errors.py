"""What can go wrong in the lab, in words that tell what to do."""

from __future__ import annotations

from mqlab.errors import MqlabError


class LabError(MqlabError):
    """The lab cannot do what it was asked for."""


class MissingToolError(LabError):
    """A program or package that the lab starts something with is not installed."""

    def __init__(self, tool: str, needed_for: str, get: str) -> None:
        super().__init__(f"The lab needs {tool} for {needed_for}: {get}.")


class BusyError(LabError):
    """Another lab uses this folder."""

    def __init__(self, home: str, pid: int | None) -> None:
        who = f"process {pid}" if pid else "another process"
        super().__init__(f"A lab is running in {home} ({who}): `mqlab lab down` stops it, --home names another folder.")


class TooLittleError(LabError):
    """A port is taken, or memory does not suffice."""


class BadScenarioError(LabError):
    """A scenario file cannot be used."""

    def __init__(self, name: str, because: str) -> None:
        super().__init__(f"The scenario {name} cannot be used: {because}.")


class BrokerError(LabError):
    """A broker did not come up, or went away unasked."""

    def __init__(self, name: str, because: str, log: str) -> None:
        super().__init__(f"{name} {because}; its log is {log}.")
