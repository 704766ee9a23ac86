"""Write the pages that are made of the catalogue: one per class, their index and the table of symptoms."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import mqlab
from mqlab.catalogue import INCIDENTS, Incident
from mqlab.commands import read_toml

_HERE = Path(__file__).parent
_DOCS = _HERE.parent
_MARK = "<!-- `make docs` writes the table below from mqlab/catalogue.toml. -->\n"
"""Where the written part of the page of symptoms begins."""


def generated() -> dict[Path, str]:
    """The text of every page that is made of the catalogue."""
    mechanisms = tomllib.loads((_HERE / "mechanisms.toml").read_text(encoding="utf-8"))
    classes = {_DOCS / "classes" / f"{slug}.md": _page(one, mechanisms[slug]) for slug, one in INCIDENTS.items()}
    symptoms = _DOCS / "symptoms.md"
    by_hand, mark, _ = symptoms.read_text(encoding="utf-8").partition(_MARK)
    return {**classes, _DOCS / "classes" / "index.md": _index(), symptoms: by_hand + mark + _symptoms()}


def main() -> None:
    """Write these pages, and remove those of classes that are gone."""
    pages = generated()
    for page in set((_DOCS / "classes").glob("*.md")) - set(pages):
        page.unlink()
    for page, text in pages.items():
        page.parent.mkdir(exist_ok=True)
        page.write_text(text, encoding="utf-8")


def _page(incident: Incident, mechanism: Mapping[str, Any]) -> str:
    """What ``mqlab explain`` prints, with the figure first and the rule's own words last."""
    _, _, text = incident.explain.partition("\n\n")
    sentence, _, sections = text.partition("\n\n")
    parts = (
        f"# {incident.slug}",
        sentence,
        figure(mechanism["steps"], mechanism.get("again")),
        sections.replace("### ", "## ").rstrip(),
        "## When mqlab says so",
        _rule(incident.slug),
    )
    return "\n\n".join(parts) + "\n"


def _rule(slug: str) -> str:
    """When its detector fires and when it stays quiet, by its docstring; else the table that lists its lines."""
    module = Path(mqlab.__file__).parent / "detectors" / f"{slug.replace('-', '_')}.py"
    if not module.is_file():
        return "A line of a broker, client or host says it outright; the table `mqlab/known_errors.toml` lists them."
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return text.replace("\n\nFires", "\n\n**Fires**").replace("\nQuiet", "\n\n**Quiet**").replace("``", "`")


def figure(steps: list[str], again: int | None) -> str:
    """The steps as a list; ``site.css`` draws boxes and arrows, one from the last back to the step number *again*."""
    divided = enumerate((step.partition(": ") for step in steps), start=1)
    listed = "\n".join(f"{number}. **{who}:** {what}" for number, (who, _, what) in divided)
    if again:
        return f'<div class="mechanism again-{again}" markdown>\n\n{listed}\n\nThen again from step {again}.\n\n</div>'
    return f'<div class="mechanism" markdown>\n\n{listed}\n\n</div>'


def _index() -> str:
    lines = [
        "# Classes of incident",
        "",
        "Each page shows how the class works, what proves it, what looks like it and is not, and when mqlab says so.",
    ]
    family = ""
    for incident in INCIDENTS.values():
        if incident.family != family:
            family = incident.family
            lines += ["", f"## {family}", ""]
        benign = " (benign)" if incident.benign else ""
        lines.append(f"- [{incident.slug}]({incident.slug}.md){benign}: {incident.title}.")
    return "\n".join(lines) + "\n"


def _symptoms() -> str:
    """A row per event that a class prints or accounts for, with the classes that do."""
    rows = "".join(f"| {words} | {', '.join(links)} |\n" for words, links in sorted(_by_words()))
    return f"\n| in the material | may be |\n|---|---|\n{rows}"


def _by_words() -> Iterator[tuple[str, list[str]]]:
    for event, words in read_toml("events.toml").items():
        kind = event.partition(":")[0]
        classes = [
            f"[{one.slug}](classes/{one.slug}.md)"
            for one in INCIDENTS.values()
            if event in one.signs or kind in one.signs or event in one.accounts_for
        ]
        if classes:
            yield str(words), classes


if __name__ == "__main__":
    main()
