"""What mqlab itself wrote about the material and left beside it: reports, JSON, screens, notebooks → nothing.

Sample lines::

    <!DOCTYPE html>
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; …">
    <meta name="generator" content="mqlab">

Such a file quotes lines of the material and adds none, so all of its lines are noise. The manifest of a capture is
another format.
"""

from __future__ import annotations

from mqlab.formats.base import About, Head, Items, Lines, Noise, Spec, regex
from mqlab.sources import Role

FORMAT = Spec("mqlab-output", Role.COMMAND, (), "mqlab")

_PAGE = regex(r'\s*<!DOCTYPE html>\s*(?:<meta [^>]*>\s*)?<meta name="generator" content="mqlab">')
_JSON = regex(r'\s*\{\s*"schema"\s*:\s*"mqlab\.(?!capture/)[a-z-]+/\d')
_NOTEBOOK = regex(r'\s*\{\s*"cells"\s*:\s*\[')
_SCREEN = regex(
    r"\s*(?:CRITICAL|WARNING|NOTICE|UNDETERMINED|HEALTHY)\b[^\0]*\nCOVERED  [^\n]* lines = [^\n]*\n"
    r"(?:[A-Z ]{9}[^\n]*\n){0,40}NEXT     mqlab [^\n]*(?:\n {9}[^\n]*)*\s*\Z"
)
_OPENS = regex(r"\bmqlab\.open_capture\(")


def recognise(head: Head) -> bool:
    """True for a page that names mqlab as its generator, for mqlab's JSON, and for notebooks that open a capture.

    A screen is known only where nothing stands above or below it: in a paste it is one thing among others.
    """
    if any(one.match(head.text) for one in (_PAGE, _JSON, _SCREEN)):
        return True
    return _NOTEBOOK.match(head.text) is not None and _OPENS.search(head.text) is not None


def parse(lines: Lines, about: About) -> Items:  # noqa: ARG001 - whatever it is about
    """Every line is noise."""
    return map(Noise, lines)
