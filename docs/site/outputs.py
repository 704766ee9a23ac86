"""Put what commands print into the blocks of pages that bear them as titles: ``make docs`` runs it over the pages."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(
    r'(?P<head>```text title="(?P<command>mqlab [^"|]+)(?: \| head -(?P<lines>\d+))?"\n)(?P<output>.*?)(?P<end>^```$)',
    re.DOTALL | re.MULTILINE,
)
PRACTICE = Path(__file__).parents[2] / "data/samples/kafka-amp-17"
"""The capture that the guide copies to a folder of the reader's own, where commands name it ``.``."""


def printed(command: str, lines: str | None) -> str:
    """What the command prints, or its first *lines*, without colours."""
    arguments = [sys.executable, "-m", "mqlab", *shlex.split(command)[1:]]
    done = subprocess.run(arguments, cwd=PRACTICE, capture_output=True, text=True, check=True)
    return "".join(done.stdout.splitlines(keepends=True)[: int(lines) if lines else None])


def main() -> None:
    """Renew the blocks of every page beside this folder."""
    for page in sorted(Path(__file__).parents[1].glob("*.md")):
        text = page.read_text(encoding="utf-8")
        renewed = BLOCK.sub(
            lambda block: block["head"] + printed(block["command"], block["lines"]) + block["end"], text
        )
        if renewed != text:
            page.write_text(renewed, encoding="utf-8")


if __name__ == "__main__":
    main()
