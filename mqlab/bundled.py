"""What comes with the package beside its code: notebooks, and captures of real brokers.

In a checkout they stand beside the package, in ``notebooks/`` and ``data/``; an installed package has the notebooks and
some captures inside.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any


def notebooks() -> Path:
    """The folder of the notebooks, those of the training in ``training/``; nothing is written there."""
    return _folder("notebooks", "notebooks")


def samples() -> Path:
    """The folder of the captures, a folder each; nothing is written there."""
    return _folder("samples", "data/samples")


def recorded() -> Path:
    """A capture that ``mqlab capture`` made of a running Kafka; nothing is written there."""
    return _folder("captured", "data/captured") / "kafka"


def sample_or_path(text: str) -> str:
    """The sample called *text*, where no such path is here; else *text* as it is."""
    sample = next((one for one in samples().glob("*/") if one.name == text), None)
    return text if sample is None or Path(text).exists() else str(sample)


def _folder(installed: str, checked_out: str) -> Path:
    package = Path(str(resources.files("mqlab")))
    inside = package / installed
    return inside if inside.is_dir() else package.parent / checked_out


def filled(notebook: Mapping[str, Any], given: Mapping[str, object]) -> list[str]:
    """Give the parameters of *notebook* these values, where it has them; the names of those that it has.

    What stands beside a value, its type and what it means, stays.
    """
    cell = next((cell for cell in notebook["cells"] if "parameters" in cell["metadata"].get("tags", [])), None)
    if cell is None:
        return []
    lines = "".join(cell["source"]).encode().splitlines()
    names = []
    for node in reversed(ast.parse(b"\n".join(lines)).body):
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=value) | ast.AnnAssign(
                ast.Name(name), value=ast.expr() as value
            ):
                names.append(name)
                if name in given and value.end_lineno is not None:
                    first, last = value.lineno - 1, value.end_lineno - 1
                    before, after = lines[first][: value.col_offset], lines[last][value.end_col_offset :]
                    lines[first : last + 1] = [before + repr(given[name]).encode() + after]
    cell["source"] = b"\n".join(lines).decode().splitlines(keepends=True)
    return names
