"""Material as small as a paste: one file or standard input of a few lines, read in this process.

Everything is read by the same kernel; starting Spark for it would take longer than reading it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from mqlab.material.walking import STDIN
from mqlab.sources import Source

LARGEST = 64 << 10
"""Bytes of a paste: what a terminal or a ticket holds, some hundred long lines."""


def may_be(paths: Sequence[str]) -> bool:
    """Whether what lies behind *paths* may turn out to be small, as far as can be told before it is read."""
    if len(paths) != 1:
        return False
    try:
        state = os.fstat(0) if paths[0] == STDIN else Path(paths[0]).stat()
    except OSError:
        return False
    return state.st_size <= LARGEST and (stat.S_ISREG(state.st_mode) or paths[0] == STDIN)


def is_small(sources: Sequence[Source]) -> bool:
    """Whether all *sources* are one small file, or parts of one."""
    first = sources[0]
    return all(one.location == first.location and one.unpacked <= LARGEST for one in sources)
