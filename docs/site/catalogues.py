"""Bring the catalogues of other languages up to date with the fixed texts that people read in tables and notebooks.

New ones wait for their translation; what stands in rooms (``mqlab/words``) and terms (``terms.po``) are kept by hand.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from mqlab.bundled import notebooks
from mqlab.languages import ENGLISH, LANGUAGES
from mqlab.languages.fixed import messages

PACKAGE = Path(__file__).parents[2] / "mqlab"
_WORD = re.compile(r"[A-Za-z]*[a-z]{2}[a-z]*")
_CODE = re.compile(r"`[^`]*`")

_TOML = {
    "catalogue": ("catalogue.toml", "commands.toml", "checklist.toml", "events.toml", "measures.toml"),
    "known_errors": ("known_errors.toml",),
}
_READ = {
    "catalogue.toml": {"family", "title", "what", "proves", "looks_like", "needs", "mechanism", "confirm", "mitigate",
                       "fix", "verify"},
    "commands.toml": {"why"},
    "checklist.toml": {"hint"},
    "known_errors.toml": {"now", "software", "versions", "means", "causes", "check", "fix"},
}  # fmt: skip
"""Fields that people read; of other files all values."""


def _of_tables(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        table = tomllib.loads((PACKAGE / name).read_text(encoding="utf-8"))
        for entry in table.values():
            fields = entry.items() if isinstance(entry, dict) else [("", entry)]
            for field, value in fields:
                if field not in _READ.get(name, {field}):
                    continue
                for text in value if isinstance(value, list) else [value]:
                    lines = map(str.strip, text.split("\n"))
                    yield from ((line, name) for line in lines if _is_prose(line) and line != "all")


def _of_notebooks() -> Iterator[tuple[str, str]]:
    """Paragraphs, and the items of lists, of what a report shows: all from the first question on."""
    for file in sorted(notebooks().glob("0[0-5]_*.py")):
        shown = False
        for cell in re.split(r"^# %%", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            kind, _, source = cell.partition("\n")
            prose = "\n".join(line.removeprefix("#").strip() for line in source.strip().split("\n"))
            shown = shown or prose.startswith("## ")
            if shown:
                texts = prose_parts(prose) if "[markdown]" in kind else re.findall(r'\bempty\("([^"]+)"\)', source)
                yield from ((text, file.name) for text in texts)


def prose_parts(prose: str) -> Iterator[str]:
    """Paragraphs, headings and items of light Markdown, each on one line."""
    for block in re.split(r"\n\s*\n|\n(?=[-*#|] )", prose):
        text = re.sub(r"^(?:#+|[-*]) ", "", " ".join(block.split()))
        if _is_prose(text):
            yield text


def _is_prose(text: str) -> bool:
    """It holds a word outside of code."""
    return bool(_WORD.search(_CODE.sub("", text)))


def texts() -> dict[str, dict[str, str]]:
    """By catalogue: every text that people read, and the file that it stands in."""
    found: dict[str, dict[str, str]] = {}
    seen: set[str] = set()
    sources = {name: _of_tables(files) for name, files in _TOML.items()} | {"notebooks": _of_notebooks()}
    for name, every in sources.items():
        found[name] = {}
        for text, file in every:
            if text not in seen:
                seen.add(text)
                found[name][text] = file
    return found


def update(language: str) -> int:
    """Write the catalogues of *language*, and return how many texts are not translated."""
    known, missing = dict(messages(language)), 0
    for name, found in texts().items():
        catalogue = Catalog(locale=language, project="mqlab", fuzzy=False)
        for text, file in found.items():
            catalogue.add(text, known.get(text, ""), locations=[(file, 0)]).flags.clear()
            missing += text not in known
        with (PACKAGE / "languages" / language / f"{name}.po").open("wb") as stream:
            write_po(stream, catalogue, width=0, omit_header=True, include_lineno=False)
    return missing


if __name__ == "__main__":
    for one in LANGUAGES:
        if one != ENGLISH:
            sys.stdout.write(f"{one}: {update(one)} texts without translation\n")
