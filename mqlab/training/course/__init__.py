"""The course: seven chapters, each a page of mechanism with a figure that moves, readable without a kernel.

::

    from mqlab.training import course

    course.write(Path("course"))

The chapters stand in the order in which they build on each other.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import mistune
from markupsafe import Markup

from mqlab.figures.style import plotly_script
from mqlab.reporting.sections import script_hash, script_json
from mqlab.training.course import chains, delivery, groups, lag, rebalances, sessions, traffic
from mqlab.training.course.moving import words

_FIGURE = "{figure}"
"""Where the figure stands in the text of a chapter."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter; those before it are what it builds on."""

    slug: str
    title: str
    afterwards: str
    """What one can do when one has read it."""
    figure: Callable[[], Any]
    caption: str


CHAPTERS = (
    Chapter(
        "lag",
        "Offsets and lag",
        "Say from a group's offsets what waits, for how long, whether the backlog shrinks, and when it will be gone.",
        lag.figure,
        lag.CAPTION,
    ),
    Chapter(
        "groups",
        "Groups, and who reads what",
        "Tell from listings which process should read which partition or queue, and which ones have no owner or two.",
        groups.figure,
        groups.CAPTION,
    ),
    Chapter(
        "rebalances",
        "Rebalances and timeouts",
        "Name the timer that ended a membership, show the line that proves it, and work out the setting that fits.",
        rebalances.figure,
        rebalances.CAPTION,
    ),
    Chapter(
        "delivery",
        "Delivery: loss and duplication",
        "Find out on which side of the log a message was lost or doubled, by which mechanism, and how many there were.",
        delivery.figure,
        delivery.CAPTION,
    ),
    Chapter(
        "traffic",
        "Traffic: more out than in",
        "Tell amplification from traffic that has to be, and split loops from retries, fan-out and inflation.",
        traffic.figure,
        traffic.CAPTION,
    ),
    Chapter(
        "sessions",
        "MQTT sessions",
        "Account for each message that an MQTT client should have got, and tell why a client comes and goes.",
        sessions.figure,
        sessions.CAPTION,
    ),
    Chapter(
        "chains",
        "Chains: from MQTT through a bridge to Kafka",
        "Follow a message over a bridge, and tell cause from consequence where several things go wrong at once.",
        chains.figure,
        chains.CAPTION,
    ),
)

_DARK = {
    "#ffffff": "#15181c", "#1f2a37": "#e3e7ec", "#5b6675": "#9aa5b3", "#e6e9ee": "#343a42", "#0072b2": "#4aa8e0",
    "#d55e00": "#f2843a", "#6a51a3": "#b09ae0", "#a3161f": "#ff6b6b",
}  # fmt: skip
"""Colours of the house's figures, and what they become on a dark page."""
_DRAW = """
const dark = matchMedia("(prefers-color-scheme: dark)");
const chart = document.querySelector(".chart");
const [given, shades] = [...chart.querySelectorAll("script")].map(script => script.textContent);
const draw = () => {
  let text = given;
  if (dark.matches) {
    for (const [light, shade] of Object.entries(JSON.parse(shades))) text = text.replaceAll(light, shade);
  }
  const config = {responsive: true, displaylogo: false, displayModeBar: false};
  Plotly.purge(chart);
  Plotly.newPlot(chart, {...JSON.parse(text), config});
};
draw();
dark.addEventListener("change", draw);
"""
_POLICY = (
    f"default-src 'none'; style-src 'unsafe-inline'; script-src 'self' file: {script_hash(_DRAW)}; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)
_PROSE = mistune.create_markdown(escape=True, plugins=["table"])


def reading(slug: str) -> tuple[str, str]:
    """The Markdown of a chapter, before its figure and after it."""
    before, _, after = (Path(__file__).parent / f"{slug}.md").read_text(encoding="utf-8").partition(_FIGURE)
    return before.strip(), after.strip()


def page(slug: str) -> str:
    """One chapter as HTML; ``plotly.js`` is to stand beside it, as ``write`` does it."""
    place = next(number for number, chapter in enumerate(CHAPTERS) if chapter.slug == slug)
    chapter = CHAPTERS[place]
    chart = chapter.figure()
    before, after = (Markup(_PROSE(text)) for text in reading(slug))
    return _rendered(
        "chapter.html.j2",
        chapter=chapter,
        number=place + 1,
        former=CHAPTERS[:place],
        following=CHAPTERS[place + 1] if place + 1 < len(CHAPTERS) else None,
        before=before,
        after=after,
        figure=script_json(json.loads(chart.to_json())),
        height=chart.layout.height,
        shades=script_json(_DARK),
        steps=words(chart),
        draw=Markup(_DRAW),
    )


def write(folder: Path) -> list[Path]:
    """Write ``index.html``, a page for each chapter and plotly's library into *folder*; the pages, index first."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plotly.js").write_text(plotly_script(), encoding="utf-8")
    pages = {"index": _rendered("index.html.j2", chapters=CHAPTERS)}
    pages |= {chapter.slug: page(chapter.slug) for chapter in CHAPTERS}
    for name, html in pages.items():
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    return [folder / f"{name}.html" for name in pages]


def _rendered(template: str, **given: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("mqlab.training.course"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(policy=_POLICY, **given)
