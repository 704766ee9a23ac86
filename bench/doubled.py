"""What signatures cost: mqlab's kernel by itself, without Spark, with the table of signatures once and twice.

Those that are added are like the real ones, but of other words, which no log holds. They are put into the table before
anything else looks at it, so nothing that runs knows that it is measured.
"""

from __future__ import annotations

import codecs
import json
import re
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from mqlab.formats import signatures
from mqlab.formats.base import Signature

_APART = re.compile(
    r"(\\.|\(\?P?<?\w*[:>]|\(\?[=!<]+|\[\^?\]?(?:\\.|[^\]])*\]|\{\d*,?\d*\})|([A-Za-z]+|\d+)", re.DOTALL
)
"""Of a regex, what must stay as it is (escapes, openings of groups, classes, repeats), or else a word or a number."""
_DIGITS = str.maketrans("0123456789", "5678901234")


def in_other_words(pattern: str) -> str:
    """The same regex with every word and number written in another alphabet."""
    return _APART.sub(lambda part: part[1] or codecs.encode(part[2], "rot13").translate(_DIGITS), pattern)


def double() -> None:
    """Make the table of signatures twice as long; nothing may have read it yet."""
    signatures.ORIGINS = (*signatures.ORIGINS, *signatures.ORIGINS)
    signatures.SIGNATURES = (*signatures.SIGNATURES, *map(_other, signatures.SIGNATURES))


def main(log: str, times: int) -> dict[str, float]:
    """Read *log* with the table of signatures once or twice.

    Returns:
        ``seconds`` of the kernel, ``signatures`` that it had, and ``events``: how many rows it made of the log.
    """
    if times > 1:
        double()
    from mqlab import intake
    from mqlab.formats.registry import FORMATS
    from mqlab.kernel import job
    from mqlab.kernel.output import Output
    from mqlab.kernel.splits import splits
    from mqlab.tables import EVENTS

    with tempfile.TemporaryDirectory() as scratch:
        sources = intake.gather([log], Path(scratch), FORMATS)
        out = Output()
        started = time.perf_counter()
        for split in splits(sources):
            job.rows_of(split, out)
        seconds = time.perf_counter() - started
    out.close(lambda _: ())
    events = out.tables[EVENTS].num_rows
    return {"seconds": seconds, "signatures": len(signatures.SIGNATURES), "events": events}


def _other(one: Signature) -> Signature:
    return replace(
        one, begins=in_other_words(one.begins), contains=in_other_words(one.contains), rare=in_other_words(one.rare)
    )


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]))))
