"""Notebooks run by papermill in this process, where all that they import is there already.

A kernel for each would import everything anew, which takes ten times longer than what their cells do. Each notebook
has names of its own.
"""

from __future__ import annotations

import ast
import json
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import papermill
from IPython.core.formatters import DisplayFormatter
from papermill.engines import Engine, NotebookExecutionManager, papermill_engines
from papermill.execute import remove_error_markers

from mqlab.bundled import notebooks
from mqlab.cache import workspace
from mqlab.reporting.sections import PLOTLY, Section, literal, sections_of

CELL_SECONDS = 600.0
"""Seconds after which a cell of a notebook that does not end is given up."""
ENGINE = "here"


def run(names: Sequence[str], given: Mapping[str, Any]) -> list[Section]:
    """Sections of the notebooks, one after the other; one that fails leaves its sections so far and the reason."""
    papermill_engines.register(ENGINE, Here)
    cache = workspace.cache_folder(given.get("options", {}).get("workspace"))
    with workspace.scratch(cache) as scratch, pd.option_context("display.max_colwidth", None):
        return [section for name in names for section in _run_one(name, given, scratch)]


def _run_one(name: str, given: Mapping[str, Any], scratch: Path) -> list[Section]:
    source, copy = notebooks() / f"{name}.ipynb", scratch / f"{name}.ipynb"
    still = {"sliders": False} if "sliders" in papermill.inspect_notebook(str(source)) else {}
    try:
        done = papermill.execute_notebook(
            str(source),
            str(copy),
            dict(given) | {"output": str(scratch / f"{name}.json")} | still,
            engine_name=ENGINE,
            progress_bar=False,
            request_save_on_cell_execute=False,
        )
    except papermill.PapermillExecutionError as error:
        stopped = Section(f"{name} stopped", [literal(f"{error.ename}: {error.evalue}")], shows=True)
        so_far = remove_error_markers(papermill.iorw.load_notebook_node(str(copy)))
        return [*(section for section in sections_of(so_far) if section.shows), stopped]
    return sections_of(done)


class Here(Engine):  # type: ignore[misc]
    """Papermill's engine that runs cells in this process, up to the first that fails."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: NotebookExecutionManager, *_: Any, **__: Any) -> None:
        """Run the code cells; nothing after one that fails."""
        names: dict[str, Any] = {"__name__": "__main__"}
        for number, cell in enumerate(nb_man.nb.cells):
            if cell.cell_type != "code":
                continue
            nb_man.cell_start(cell, number)
            try:
                with redirect_stdout(StringIO()), redirect_stderr(StringIO()), _ending():
                    value = _run_cell(cell.source, names)
                cell.outputs = [] if value is None else [_output("display_data", data=_shown(value), metadata={})]
            except Exception as error:
                cell.outputs = [_output("error", ename=type(error).__name__, evalue=str(error), traceback=[])]
                nb_man.cell_exception(cell, number)
                return
            finally:
                nb_man.cell_complete(cell, number)


def _run_cell(source: str, names: dict[str, Any]) -> Any:
    """The value of the last line, None where that is a statement."""
    tree = ast.parse(source)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "<cell>", "exec"), names)
        return None
    exec(compile(ast.Module(tree.body[:-1], []), "<cell>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)


def _shown(value: Any) -> dict[str, Any]:
    """What Jupyter would show, by type."""
    if hasattr(value, "to_plotly_json"):
        return {PLOTLY: json.loads(value.to_json())}
    shown, _ = DisplayFormatter().format(value)  # type: ignore[no-untyped-call]
    return dict(shown)


def _output(kind: str, **content: Any) -> Any:
    return nbformat.from_dict({"output_type": kind, **content})  # type: ignore[no-untyped-call]


@contextmanager
def _ending() -> Iterator[None]:
    """Stop what does not end; only the main thread can be stopped so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"a cell did not end within {CELL_SECONDS:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, CELL_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
