"""Templates become pages: those of the package, or a team's own Jinja file, which may lay out and compute nothing else.

docs/templates.md lists the names that a template gets; they stay.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from html import escape
from pathlib import Path

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup as SafeText

from mqlab import units
from mqlab.catalogue import INCIDENTS
from mqlab.errors import MqlabError
from mqlab.languages import language_tag, said
from mqlab.measure_names import fact_words
from mqlab.words import listed, room

DEFAULT, SHORT = "default", "short"
BUILT_IN = (DEFAULT, SHORT, "comparison")
_LINK = re.compile(r'<script\b.*?</script>|(<a\b[^<>]*?) href="#([^"]*)"', re.DOTALL)
_ID = re.compile(r'\bid="([^"]*)"')
_CODE = re.compile(r"`([^`]+)`")


class BadTemplateError(MqlabError):
    """A team's template is not there, or is wrong at some line."""


def page(template: str, names: Mapping[str, object]) -> str:
    """The page that *template* makes: one that is built in, or the path of a Jinja file.

    A link to a place that this template leaves out becomes plain text.

    Raises:
        BadTemplateError: there is no such template, or it cannot be rendered.
    """
    if template in BUILT_IN:
        text = _environment(jinja2.PackageLoader("mqlab")).get_template(f"{template}.html.j2").render(names)
    else:
        text = _of_team(template, names)
    known = set(_ID.findall(text))
    return _LINK.sub(lambda link: link[1] if link[1] and link[2] not in known else link[0], text)


def check(template: str) -> None:
    """See that there is such a template, before any work is done.

    Raises:
        BadTemplateError: there is none.
    """
    if template not in BUILT_IN:
        _source(Path(template))


def _of_team(template: str, names: Mapping[str, object]) -> str:
    path = Path(template)
    source = _source(path)
    own = jinja2.FunctionLoader(lambda name: (source, str(path), None) if name == template else None)
    folder = jinja2.FunctionLoader(lambda name: _neighbour(path.parent, name))
    try:
        return (
            _environment(jinja2.ChoiceLoader([own, jinja2.PackageLoader("mqlab"), folder]))
            .get_template(template)
            .render(names)
        )
    except jinja2.TemplateSyntaxError as error:
        raise BadTemplateError(f"{error.filename or template}, line {error.lineno}: {error.message}.") from error
    except jinja2.TemplateNotFound as error:
        raise BadTemplateError(f"{_line(error, path)}: there is no template {error.name!r}.") from error
    except Exception as error:
        said = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise BadTemplateError(f"{_line(error, path)}: {said}.") from error


def _neighbour(folder: Path, name: str) -> tuple[str, str, None] | None:
    """A file of *folder* that a template names; none where ``..``, a root or a link leads out of it."""
    file = folder / name
    inside = file.resolve().is_relative_to(folder.resolve())
    return (_source(file), str(file), None) if inside and file.is_file() else None


def _source(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise BadTemplateError(
            f"There is no template {str(path)!r}: write {DEFAULT}, {SHORT} or the path of a Jinja file."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise BadTemplateError(f"{path} cannot be read as a template: {error}.") from error


def _line(error: BaseException, path: Path) -> str:
    """The file and line of the team's template at which it went wrong."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if Path(one.filename).parent == path.parent and Path(one.filename).suffix != ".py"]
    return f"{own[-1].filename}, line {own[-1].lineno}" if own else str(path)


def _environment(loader: jinja2.BaseLoader) -> jinja2.Environment:
    environment = ImmutableSandboxedEnvironment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_told,
    )
    environment.filters.update(
        size=units.size,
        number=units.number,
        factor=units.factor,
        duration=units.duration,
        clock=units.clock,
        stamp=units.stamp,
        where=lambda place: place.place,
        light=_light,
        incident=lambda slug: INCIDENTS[slug].title if slug in INCIDENTS else slug,
        fact=fact_words,
        listed=listed,
    )
    environment.globals.update(say=room("page"), language=language_tag())
    environment.tests["figure"] = lambda block: hasattr(block, "json")
    return environment


def _told(value: object) -> object:
    """A text in the language that is spoken; what is HTML already, and anything else, as it is."""
    return said(value) if isinstance(value, str) and not isinstance(value, SafeText) else value


def _light(text: str) -> SafeText:
    """A text of the catalogue in the language that is spoken: what stands in back-ticks is code."""
    return SafeText(_CODE.sub(r"<code>\1</code>", escape(said(text))))
