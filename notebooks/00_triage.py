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
# One capture, every class of incident, the worst first.
# Change the next cell and run all, or run `mqlab report PATH`, which fills it in.

# %% tags=["parameters"]
paths: str = "kafka-amp-17"  # a folder, file, glob or archive, or a list of these; or the name of a sample
options: dict = {}  # whatever mqlab.open_capture takes: {"since": "2026-11-21T12:20Z", "group": "billing"}
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
# The host that sent most, on a linear scale; `log=True` shows the quiet times too. The band is the first finding,
# grey is where scrapes are missing. Point at a mark to see the line it was read from.

# %%
capture.plot.timeline(log=False)

# %% [markdown] tags=["notebook"]
# ## Which findings are there?
#
# *Proven* means that the mechanism left its own signature and that the quantities agree with it; *likely* is one
# of the two; *possible* is a risk in the settings.

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
# ## What was it not?
#
# Rejected: a part of the signature was there and was disproved. Clear: looked for and absent. Not checked: the
# material lacks something, so silence says nothing.

# %% tags=["hide"]
frames.verdicts(diagnosis)

# %% [markdown] tags=["undetermined", "what-brokers-and-clients-say-outright"]
# ## Which warnings and errors are left?
#
# By shape, earliest first, with numbers, ids and addresses masked: what a log complains about and no rule knows. In an
# undetermined case, start here.

# %%
frames.complaints(facts)

# %% [markdown] tags=["log-explosion"]
# ## Which lines fill the logs?
#
# By shape: three shapes that carry nearly all of a log, at many times its own earlier rate, are an explosion; one
# shape at a steady rate is an access log. Lines without a moment, such as stack traces, count with the line before
# them. Drawn is the log of the finding, else the largest one; a log below one megabyte is left out.

# %%
capture.plot.line_shapes()

# %%
frames.line_shapes(facts)

# %% [markdown] tags=["notebook"]
# ## What does the material cover?
#
# For each source: lines read as data + known noise + rejected = all lines.

# %% tags=["hide"]
facts.coverage

# %% tags=["hide"]
diagnosis.gaps

# %% [markdown] tags=["notebook"]
# ## Dig deeper
#
# Every line that was read is a row in a Spark table, with its source and line. Set `dig_deeper = True` in the
# first cell, then ask your own question.
# `capture` shows what there is; the notebook `your_own_question` asks some.

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
