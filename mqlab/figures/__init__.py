"""Plotly figures, one module per question. Pure: facts and findings in, ``go.Figure`` out; no Spark."""

import plotly.io

# JupyterLab draws the first of the two, nbconvert's HTML the second; without it a report has no charts.
plotly.io.renderers.default = "plotly_mimetype+notebook"
