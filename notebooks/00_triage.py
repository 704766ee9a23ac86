# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What happened?
#
# One capture, checked for every class of incident, the worst finding first.
# Set `paths` in the next cell and run all cells, or run `mqlab report PATH`, which does both.

# %% tags=["parameters"]
paths: str = "kafka-amp-17"  # a folder, file, glob or archive, or a list of these; or the name of a sample
options: dict = {}  # options of mqlab.open_capture: {"since": "2026-11-21T12:20Z", "group": "billing"}
output: str = "build/findings.json"  # where the findings go
dig_deeper: bool = False  # True starts Spark and opens the tables behind the facts

# %%
from pathlib import Path

import mqlab
from mqlab import frames, jsonout

capture = mqlab.open_capture(paths, **options)
facts, diagnosis = capture.facts, capture.diagnosis
leading = next(iter(diagnosis.findings), None)

# %% tags=["hide"]
frames.verdict(diagnosis)

# %% [markdown] tags=["notebook"]
# ## What happened when?
#
# Traffic of the host that sent most, on a linear scale; `log=True` also shows the quiet times. The coloured band is the
# first finding, grey bands are missing scrapes. Point at a mark to see the line it was read from.

# %%
capture.plot.timeline(log=False)

# %% [markdown] tags=["notebook"]
# ## Which findings are there?
#
# *Proven*: the mechanism left its own signature and the quantities agree with it; *likely*: one of the two; *possible*:
# a risk in the settings.

# %%
capture.findings

# %% [markdown] tags=["notebook"]
# ## What proves the first one?

# %% tags=["hide"]
leading

# %% [markdown] tags=["notebook"]
# ## What changed?

# %% tags=["hide"]
frames.changes(diagnosis)

# %% [markdown] tags=["notebook"]
# ## What was ruled out?
#
# Rejected: it looked like this class at first, but the material disproves it. Clear: looked for and absent. Not
# checked: the material that would show it is missing, so its absence proves nothing.

# %% tags=["hide"]
frames.verdicts(diagnosis)

# %% [markdown] tags=["undetermined", "what-brokers-and-clients-say-outright"]
# ## Which warnings and errors are left?
#
# Lines that no rule knows, grouped by shape, the earliest first; numbers, ids and addresses are masked. In an
# undetermined case, start here.

# %%
frames.complaints(facts)

# %% [markdown] tags=["log-explosion"]
# ## Which lines fill the logs?
#
# Grouped by shape. Three shapes that fill nearly all of a log, at many times its earlier rate, are an explosion; one
# shape at a steady rate is an access log. Lines without a time, such as stack traces, count with the line before them.
# The figure shows the log of the finding, otherwise the largest log; logs below one megabyte are left out.

# %%
capture.plot.line_shapes()

# %%
frames.line_shapes(facts)

# %% [markdown] tags=["notebook"]
# ## What does the material cover?
#
# For each source: data lines + known noise + rejected lines = all lines.

# %% tags=["hide"]
facts.coverage

# %% tags=["hide"]
diagnosis.gaps

# %% [markdown] tags=["notebook"]
# ## Dig deeper
#
# Each event, setting, offset and sample that was read is a row in a Spark table, with its source and line. Set
# `dig_deeper = True` in the first cell, then ask your own question. `capture` lists the tables; the notebook
# `your_own_question` has examples.

# %% tags=["hide"]
if dig_deeper:
    capture.events.groupBy("kind", "node", "client_id").count().orderBy("count", ascending=False).show(
        30, truncate=False
    )

# %% tags=["hide"] jupyter={"source_hidden": true}
Path(output).parent.mkdir(parents=True, exist_ok=True)
Path(output).write_text(jsonout.dumps(diagnosis), encoding="utf-8")

# %% tags=["hide"] jupyter={"source_hidden": true}
written = jsonout.diagnosis_json(diagnosis)
assert {"material", "verdict", "findings", "rejected", "clear", "not_checked", "changes"} <= written.keys()
assert Path(output).stat().st_size > 0
