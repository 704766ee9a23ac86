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
# # Is it the same incident, is it repaired?
#
# Two captures side by side: two incidents, or one before and after its repair. The example is one capture, split at the
# moment of its repair. Change the next cell and run all cells; `mqlab compare A B -o compare.html` makes a page of it.

# %% tags=["parameters"]
before: str = "kafka-amp-17"  # A: a folder, file or archive, or the name of a sample
after: str = "kafka-amp-17"  # B, likewise
at: str = "2026-11-21T12:23:20Z"  # use A up to this moment and B from it on; None: all of both
options: dict = {}  # options of mqlab.open_capture: {"workspace": "/tmp/cache"}
output: str = "build/comparison.json"  # where the comparison goes

# %%
from pathlib import Path

import mqlab
from mqlab.comparing.comparison import compare, dumps, tables, timeline
from mqlab.comparing.sides import side
from mqlab.shared.table import Table

a = mqlab.open_capture(before, until=at, **options)
b = mqlab.open_capture(after, since=at, **options)
told = compare(side(before, a), side(after, b))
captures, verdicts, measures, settings, versions, lines, moments = (table.frame for table in tables(told))

# %% [markdown]
# ## What can be concluded?
#
# *Repaired* requires that B is clear of what was found in A, is later, names the same places, was read from the same
# kinds of material, carried a comparable load for as long, and was put to the test. Every condition that is not met is
# listed. *Not checked* is never *repaired*.

# %%
Table({told.answer.kind: [told.answer.sentence, *told.answer.open, *told.answer.changed]})

# %%
captures

# %% [markdown]
# ## What happened when?
#
# Both captures start at the onset of their leading finding, the dotted line; a capture without a finding starts at its
# beginning.

# %%
timeline(told)

# %%
moments

# %% [markdown]
# ## Which classes ended differently?

# %%
verdicts

# %%
measures

# %% [markdown]
# ## What was configured differently?
#
# Settings named on the page of a found class come first; names and places last.

# %%
settings

# %%
versions

# %% [markdown]
# ## Which lines are new, gone, or come at another rate?
#
# Per minute and log, since the captures differ in length. Names of topics, groups and clients are masked.

# %%
lines

# %%
Path(output).parent.mkdir(parents=True, exist_ok=True)
Path(output).write_text(dumps(told), encoding="utf-8")
assert told.answer.kind
