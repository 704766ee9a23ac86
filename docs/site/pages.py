"""Pages of the site that are made of the catalogue: one per class with its mechanism's figure, and all by symptom."""

from __future__ import annotations

import ast
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import mqlab
from mqlab.catalogue import INCIDENTS, Incident
from mqlab.commands import read_toml

_HERE = Path(__file__).parent
_WIDTH, _BOX, _LINE, _GAP = 560, 14, 17, 26
"""Of a figure, in pixels: its width, what stands around the text of a box, the height of a line, the way between."""
_WORKER = "https://unpkg.com/iframe-worker/shim"
"""What the plug-in for sites that open from a file would load from outside; the same stands beside the pages."""
_MARK = "<!-- symptoms -->"
"""Where the page of symptoms wants the table of them."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page per class, and their list."""
    mechanisms = tomllib.loads((_HERE / "mechanisms.toml").read_text(encoding="utf-8"))
    made = {f"classes/{slug}.md": _page(one, mechanisms[slug]) for slug, one in INCIDENTS.items()}
    made["classes/index.md"] = _index()
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the table of symptoms into the page that asks for it."""
    return markdown.replace(_MARK, _symptoms()) if _MARK in markdown else markdown


def on_post_page(output: str, page: Page, **_: Any) -> str:
    """Load the worker of the search from the site itself."""
    return output.replace(_WORKER, "../" * page.url.count("/") + "site/iframe-worker.js")


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """The same for the page that says that there is none."""
    return output_content.replace(_WORKER, "site/iframe-worker.js") if template_name == "404.html" else output_content


def _page(incident: Incident, mechanism: Mapping[str, Any]) -> str:
    """What ``mqlab explain`` prints, with the figure first and the rule's own words last."""
    _, _, told = incident.explain.partition("\n\n")
    sentence, _, sections = told.partition("\n\n")
    rule = _rule(incident.slug)
    when = f"\n\n## When mqlab says so\n\n{rule}\n" if rule else ""
    figure = drawing(mechanism["steps"], mechanism.get("again"))
    return f"# {incident.slug}\n\n{sentence}\n\n{figure}\n\n{sections.replace('### ', '## ')}{when}"


def _rule(slug: str) -> str:
    """When its detector fires and when it stays quiet, by its docstring; else the table that lists its lines."""
    module = Path(mqlab.__file__).parent / "detectors" / f"{slug.replace('-', '_')}.py"
    if not module.is_file():
        return "A line of a broker, client or host says it outright; the table `mqlab/known_errors.toml` lists them."
    told = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return told.replace("\nFires", "\n\n**Fires**").replace("\nQuiet", "\n\n**Quiet**").replace("``", "`")


def drawing(steps: list[str], again: int | None) -> str:
    """The steps one below the other as SVG; an arrow leads from the last back to the step number *again*."""
    shapes, tops, y = [], [], 4
    for number, (who, _, what) in enumerate(step.partition(": ") for step in steps):
        lines = textwrap.wrap(what, 62)
        height = _BOX + _LINE * (len(lines) + 1)
        kind = "last" if number == len(steps) - 1 and again is None else "step"
        shapes.append(f'<rect class="{kind}" x="4" y="{y}" width="{_WIDTH - 64}" height="{height}" rx="6"/>')
        shapes.append(f'<text class="who" x="18" y="{y + 20}">{escape(who)}</text>')
        shapes += [
            f'<text x="18" y="{y + 20 + _LINE * row}">{escape(line)}</text>' for row, line in enumerate(lines, start=1)
        ]
        if number < len(steps) - 1:
            below = y + height
            shapes.append(f'<path d="M40 {below + 2} v{_GAP - 6}" marker-end="url(#tip)"/>')
        tops.append(y)
        y += height + _GAP
    bottom = y - _GAP
    if again is not None:
        start, end, right = bottom - 20, tops[again - 1] + 20, _WIDTH - 60
        shapes.append(f'<path d="M{right + 2} {start} h36 V{end} h-32" marker-end="url(#tip)"/>')
    alternative = escape("; then ".join(steps) + (f"; and again from step {again}" if again else ""))
    tip = '<defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    tip += '<path d="M0 0 L8 4 L0 8 z"/></marker></defs>'
    head = f'<svg class="mechanism" role="img" aria-label="{alternative}" viewBox="0 0 {_WIDTH} {bottom + 4}">'
    return f"{head}{tip}{''.join(shapes)}</svg>"


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
    return f"| in the material | may be |\n|---|---|\n{rows}"


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
