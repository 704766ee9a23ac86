"""Runs the notebooks that fit and cuts what they show into sections of the report."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import papermill
from nbformat import NotebookNode
from papermill.iorw import load_notebook_node

from mqlab.diagnosis import Diagnosis
from mqlab.findings import Certainty
from mqlab.report_markup import Figure, Markup, as_figure, clean_html, markdown

TRIAGE = "00_triage"
FITTING = {
    "01_traffic_amplification": frozenset(
        {
            "batch-split-loop", "oversize-record-rejected", "retry-amplification", "catch-up-read", "replica-catch-up",
            "format-inflation", "fan-out", "replication-traffic", "bridge-loop", "retained-replay-storm",
            "redelivery-storm", "overlapping-subscription",
        }
    )
}  # fmt: skip
"""Which classes a notebook explains; it runs when one of them is likely or proven."""
_PLOTLY = "application/vnd.plotly.v1+json"


@dataclass
class Section:
    """One question: prose, figures and tables in the order of the notebook."""

    title: str
    blocks: list[Markup | Figure] = field(default_factory=list)


def notebook_folder() -> Path:
    """Beside the package in a checkout, inside it when installed."""
    inside = Path(__file__).parent / "notebooks"
    return inside if inside.is_dir() else Path(__file__).parents[1] / "notebooks"


def fitting(diagnosis: Diagnosis) -> tuple[str, ...]:
    """The triage notebook, and those whose classes were found at least likely."""
    found = {finding.incident for finding in diagnosis.findings if finding.certainty >= Certainty.LIKELY}
    return (TRIAGE, *(name for name, slugs in FITTING.items() if found & slugs))


def run(names: Sequence[str], parameters: Mapping[str, Any]) -> list[Section]:
    """Run the notebooks side by side; one that fails leaves its sections so far and the reason."""
    if not names:
        return []
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(len(names)) as pool:
        done = pool.map(lambda name: _run_one(name, parameters, Path(scratch)), names)
        return [section for sections in done for section in sections]


def sections_of(notebook: NotebookNode) -> list[Section]:
    """A section for each ``##`` heading; what stands before the first one is for readers of the notebook only."""
    sections: list[Section] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heading, _, prose = cell.source.strip().partition("\n")
            if heading.startswith("## "):
                sections.append(Section(heading.removeprefix("## ").strip()))
            else:
                prose = cell.source
            if sections and prose.strip():
                sections[-1].blocks.append(markdown(prose))
        elif sections and cell.cell_type == "code" and "hide" not in cell.metadata.get("tags", ()):
            sections[-1].blocks.extend(_blocks(cell.get("outputs", ())))
    return [section for section in sections if section.blocks]


def _run_one(name: str, parameters: Mapping[str, Any], scratch: Path) -> list[Section]:
    source, copy = notebook_folder() / f"{name}.ipynb", scratch / f"{name}.ipynb"
    try:
        done = papermill.execute_notebook(
            str(source), str(copy), dict(parameters), cwd=str(source.parent), progress_bar=False, kernel_name="python3",
            request_save_on_cell_execute=False,
        )  # fmt: skip
    except papermill.PapermillExecutionError as error:
        stopped = Section(f"{name} stopped", [markdown(f"{error.ename}: {error.evalue}", literal=True)])
        return [*sections_of(load_notebook_node(str(copy))), stopped]
    return sections_of(done)


def _blocks(outputs: Iterable[Mapping[str, Any]]) -> list[Markup | Figure]:
    blocks: list[Markup | Figure] = []
    for output in outputs:
        data = output.get("data", {})
        if _PLOTLY in data:
            blocks.append(as_figure(data[_PLOTLY]))
        elif "text/html" in data:
            blocks.append(clean_html("".join(data["text/html"])))
        elif "text/markdown" in data:
            blocks.append(markdown("".join(data["text/markdown"])))
        elif "text/plain" in data:
            blocks.append(markdown("".join(data["text/plain"]), literal=True))
    return blocks
