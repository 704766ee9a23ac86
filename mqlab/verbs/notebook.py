"""``mqlab notebook``: the notebooks that come with mqlab, for people who have no checkout."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from mqlab.bundled import filled, notebooks
from mqlab.errors import MqlabError, NothingReadableError
from mqlab.verbs.helping import Verbs
from mqlab.verbs.material import between, deliver, extend, language, material
from mqlab.writing import write

_TRIAGE, _COMPARE = "00_triage", "compare"
_PARTING = 6.0
"""Seconds that JupyterLab gets to end its kernels in."""


class NotebookError(MqlabError):
    """A notebook cannot be copied or opened."""


@click.group(cls=Verbs)
def notebook() -> None:
    """List the notebooks, copy one, or open one for your material."""


@notebook.command("list")
@language
def listed() -> int:
    """List the notebooks with their titles."""
    from mqlab.screens.listings import coloured, listing

    groups: dict[str, list[tuple[str, str]]] = {"Notebooks": [], "Training": []}
    for name, path in _known().items():
        groups["Training" if path.parent != notebooks() else "Notebooks"].append((name, _question(_read(path))))
    deliver(listing(groups), None, coloured)
    return 0


def _completed(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    return [name for name in _known() if name.startswith(begun)]


@notebook.command()
@click.argument("name", shell_complete=_completed)
@click.argument("dest", default=".", type=click.Path(path_type=Path))
def copy(name: str, dest: Path) -> int:
    """Copy notebook NAME to DEST, a folder or a file; by default to the current folder."""
    source = _chosen(name)
    target = _place(dest / source.name if dest.is_dir() else dest)
    if target.exists():
        raise NotebookError(f"{target} already exists and was not changed: give another file name.")
    write(target, source.read_text(encoding="utf-8"))
    click.echo(f"wrote {target}: jupyter lab {shlex.quote(str(target))}")
    return 0


@notebook.command("open")
@click.option(
    "--notebook", "name", default=_TRIAGE, show_default=True, shell_complete=_completed, help="Which notebook."
)
@click.option(
    "--folder", default=".", type=click.Path(file_okay=False, path_type=Path), help="Where to put the notebook."
)
@click.option("--no-browser", is_flag=True, help="Only print the address, for example on a remote machine.")
@material
def opened(name: str, folder: Path, no_browser: bool, **chosen: Any) -> int:
    """Open a notebook for PATHs in JupyterLab; it is put into the current folder.

    If it already exists for the same material, it opens as you left it. `compare` takes two PATHs.
    """
    source = _chosen(name)
    content = _read(source)
    given = _given(name, filled(content, {}), chosen)
    for module in ("ipykernel", "jupyterlab"):
        import_module(module)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotebookError(f"The folder {folder} cannot be created: {error.strerror}.") from error
    target = _place(folder / source.name)
    filled(content, given)
    if not target.exists():
        write(target, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
        click.echo(f"wrote {target}")
    elif not _is_for(target, given):
        raise NotebookError(f"{target} already exists, for other material or options: give --folder, or move it away.")
    click.echo("JupyterLab starts; Ctrl-C ends it.")
    return _jupyter(target, no_browser)


def _known() -> dict[str, Path]:
    """The notebooks by name, those of the training last."""
    folder = notebooks()
    return {path.stem: path for path in (*sorted(folder.glob("*.ipynb")), *sorted(folder.glob("training/*.ipynb")))}


def _chosen(name: str) -> Path:
    known = _known()
    if name.removesuffix(".ipynb") not in known:
        raise NotebookError(f"There is no notebook {name!r}. Known: {', '.join(known)}.")
    return known[name.removesuffix(".ipynb")]


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _question(content: Mapping[str, Any]) -> str:
    """The notebook's own title."""
    return "".join(content["cells"][0]["source"]).partition("\n")[0].lstrip("# ")


def _place(target: Path) -> Path:
    """*target*, where a notebook can be written.

    Raises:
        NotebookError: its folder is not there or is read-only, or it is no name of a notebook.
    """
    if target.suffix != ".ipynb":
        raise NotebookError(f"{target} is not a folder: create it first, or give a name that ends with .ipynb.")
    if not target.parent.is_dir():
        raise NotebookError(f"There is no folder {target.parent}: create it first.")
    if not os.access(target.parent, os.W_OK):
        raise NotebookError(f"The folder {target.parent} is read-only: choose another one.")
    return target


def _given(name: str, parameters: Sequence[str], chosen: Mapping[str, Any]) -> dict[str, object]:
    """The parameters of the notebook for what was *chosen*.

    Raises:
        MqlabError: a path, an option or their number does not fit.
    """
    paths = list(map(_absolute, _checked(chosen)))
    options: dict[str, object] = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in chosen.items()
        if key != "paths" and value not in (None, ())
    }
    options |= {key: _absolute(chosen[key]) for key in ("ledger", "workspace") if key in options}
    if "plugins" in options:
        options["plugins"] = [_absolute(one) if Path(one).exists() else one for one in chosen["plugins"]]
    if "paths" in parameters:
        return {"paths": paths[0] if len(paths) == 1 else paths, "options": options}
    if "before" not in parameters:
        raise NotebookError(f"{name} reads no material: get it with `mqlab notebook copy {name}`.")
    if len(paths) != 2:
        raise NotebookError(f"{name} takes two captures, the earlier one first; given: {len(paths)}.")
    return {"before": paths[0], "after": paths[1], "at": None, "options": options}


def _checked(chosen: Mapping[str, Any]) -> tuple[str, ...]:
    """The paths, of which each has at least one file; the options can be used.

    Raises:
        MqlabError: they cannot.
    """
    from mqlab.cache.workspace import cache_folder, scratch
    from mqlab.capture import Options
    from mqlab.ledgers.mapping import read_map
    from mqlab.material.walking import STDIN, walk

    paths: tuple[str, ...] = chosen["paths"]
    extend(chosen["plugins"])
    between(chosen["since"], chosen["until"])
    Options(log_tz=chosen["log_tz"]).zones()
    read_map(chosen["ledger"])
    if STDIN in paths:
        raise NotebookError("A notebook cannot read standard input: save the input to a file and give that.")
    with scratch(cache_folder(chosen["workspace"])) as place:
        for path in paths:
            if not walk([path], place):
                raise NothingReadableError([path], "it contains no file")
    return paths


def _absolute(path: str) -> str:
    """What it is called from any folder; addresses stay."""
    return path if "://" in path else os.path.abspath(path)  # noqa: PTH100 - a glob stays one


def _is_for(target: Path, given: Mapping[str, object]) -> bool:
    """Whether the notebook that is there has these parameters already."""
    try:
        there = _read(target)
        before = json.dumps(there)
        return bool(filled(there, given)) and json.dumps(there) == before
    except (OSError, ValueError, KeyError, TypeError, AttributeError, SyntaxError):
        return False


def _jupyter(target: Path, no_browser: bool) -> int:
    """JupyterLab with *target* until it ends or this process is to end; its kernel is this Python and no other."""
    from mqlab.cache.workspace import scratch

    words = [sys.executable, "-m", "jupyterlab", f"--LabApp.default_url=/lab/tree/{target.name}"]
    words += ["--no-browser"] if no_browser else []
    words += ["--allow-root"] if os.geteuid() == 0 else []
    with scratch() as own:
        import_module("ipykernel.kernelspec").write_kernel_spec(own / "kernels" / "python3")
        places = [str(own), *filter(None, [os.environ.get("JUPYTER_PATH")])]
        env = os.environ | {"JUPYTER_PATH": os.pathsep.join(places)}
        lab = subprocess.Popen(words, cwd=target.parent, env=env, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            return lab.wait()
        finally:
            lab.terminate()
            with suppress(subprocess.TimeoutExpired):
                lab.wait(_PARTING)
