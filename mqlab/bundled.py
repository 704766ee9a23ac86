"""What comes with the package beside its code: notebooks, and captures of real brokers.

In a checkout they stand beside the package, in ``notebooks/`` and ``data/samples/``; an installed package that holds
them has them inside.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path


def notebooks() -> Path:
    """The folder of the notebooks, those of the training in ``training/``; nothing is written there."""
    return _folder("notebooks", "notebooks")


def samples() -> Path:
    """The folder of the captures, a folder each; nothing is written there."""
    return _folder("samples", "data/samples")


def _folder(installed: str, checked_out: str) -> Path:
    package = Path(str(resources.files("mqlab")))
    inside = package / installed
    return inside if inside.is_dir() else package.parent / checked_out
