"""Plotly figures, one module per question. Pure: facts and findings in, ``go.Figure`` out; no Spark."""

import sys

import pandas  # noqa: F401 - before Plotly, which uses it as it stands, be it half imported by another thread
import plotly.io

# JupyterLab draws the first of the two, nbconvert's HTML the second; without it a report has no charts. Looking for
# them imports jsonschema, whose check of IRIs compiles a grammar for a second: it is optional, and nobody asks for it.
_left_out = sys.modules.setdefault("rfc3987_syntax", None) is None  # type: ignore[arg-type]
plotly.io.renderers.default = "plotly_mimetype+notebook"
if _left_out:
    del sys.modules["rfc3987_syntax"]
