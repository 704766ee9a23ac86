"""A small material of real files, for the tests of the workspace."""

import os
import shutil
from pathlib import Path

SAMPLE = Path(__file__).parents[1] / "data" / "samples" / "kafka-amp-13"
PARTS = (
    "clients/edge-gw.log",
    "configs/edge-gw-producer.properties",
    "configs/topics-describe.txt",
    "logs/server.log",
    "metrics/up.json",
    "offsets/consumer-groups-describe.20261121T121136Z.txt",
)
AT = 1_795_263_523
LINE = b"[2026-11-21 12:20:44,201] INFO [GroupCoordinator 1]: Stabilized group lake (kafka.coordinator.group)\n"


def write(path, content, at=AT):
    """Write *path* with a time of its own, so that another size or time is another state."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (at, at))
    return path


def copied(folder, parts=PARTS):
    """These parts of the sample in *folder*."""
    for part in parts:
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(SAMPLE / part, folder / part)
    return folder
