"""plotly.js as text, for pages that must work offline."""

from __future__ import annotations

from plotly.offline import get_plotlyjs


def plotly_script() -> str:
    """The whole library, minified; the Python package brings no smaller bundle."""
    return str(get_plotlyjs())
