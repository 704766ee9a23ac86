"""What comes with the package beside its code: notebooks, and captures of real brokers.

They stand once, in ``notebooks/`` and ``data/samples/`` of the repository, where people open them. A wheel holds them
inside the package; in a checkout the package finds them beside itself.
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
