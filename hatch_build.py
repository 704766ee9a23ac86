"""What a wheel holds beside the code: the notebooks, two samples, a live capture, and the captures of the exercises.

They stand once in the repository, and ``mqlab.bundled`` finds them there in a checkout. The capture of each exercise is
an archive of its own, named by what ``mqlab.training.exercise.fingerprint`` makes of it, since the names of the samples
would tell what happened.
"""

from __future__ import annotations

import hashlib
import lzma
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SAMPLES = ("kafka-amp-17", "mqtt-takeover-01")


class BundledData(BuildHookInterface):
    """Puts them into a wheel; an editable install finds them in the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say where what is to go."""
        if version == "editable":
            return
        root, made = Path(self.root), Path(self.root) / "build" / "material"
        captures = sorted(path for path in (root / "data" / "samples").iterdir() if path.is_dir())
        made.mkdir(parents=True, exist_ok=True)
        notebooks = [path for path in (root / "notebooks").rglob("*.ipynb") if path.parent.name[0] != "."]
        included = {path: f"mqlab/{path.relative_to(root).as_posix()}" for path in notebooks}
        included[root / "data" / "captured"] = "mqlab/captured"
        for capture in captures:
            if capture.name in SAMPLES:
                included[capture] = f"mqlab/samples/{capture.name}"
            else:
                archive = made / f"{_fingerprint(capture)}.tar.xz"
                archive.write_bytes(_packed(capture))
                included[archive] = f"mqlab/training/material/{archive.name}"
        build_data["force_include"] |= {str(path): place for path, place in included.items()}


def _files(capture: Path) -> list[Path]:
    return sorted(
        (path for path in capture.rglob("*") if path.is_file()), key=lambda p: p.relative_to(capture).as_posix()
    )


def _fingerprint(capture: Path) -> str:
    named = (f"{path.relative_to(capture).as_posix()} {path.stat().st_size}" for path in _files(capture))
    return hashlib.sha256("\n".join(named).encode()).hexdigest()


def _packed(capture: Path) -> bytes:
    """The same bytes for the same files, whoever packs them and when."""
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in _files(capture):
            about = tarfile.TarInfo(path.relative_to(capture).as_posix())
            about.size = path.stat().st_size
            with path.open("rb") as content:
                archive.addfile(about, content)
    return lzma.compress(packed.getvalue(), preset=2)
