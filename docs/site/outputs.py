"""Put what the commands in the titles of code blocks print into these blocks: ``make docs`` runs it over the pages."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(
    r'(?P<head>```text title="(?P<command>mqlab [^"]+)"\n)(?P<output>.*?)(?P<end>^```$)', re.DOTALL | re.MULTILINE
)


def told(command: str) -> str:
    """What the command prints, without colours."""
    arguments = shlex.split(command)[1:]
    done = subprocess.run([sys.executable, "-m", "mqlab.cli", *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def main() -> None:
    """Renew the blocks of every page beside this folder."""
    for page in sorted(Path(__file__).parents[1].glob("*.md")):
        text = page.read_text(encoding="utf-8")
        renewed = BLOCK.sub(lambda block: block["head"] + told(block["command"]) + block["end"], text)
        if renewed != text:
            page.write_text(renewed, encoding="utf-8")


if __name__ == "__main__":
    main()
