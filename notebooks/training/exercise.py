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
# # An incident to work through
#
# Real material, collected as in a real incident; only the verdict is locked until you have answered. Work from the
# symptom to a hypothesis, and from there to the line that proves it. Each answer is checked at once; a second and third
# try earn fewer points, and a hint costs a fifth of a question's points. Your answers stay in the exercise's folder.
#
# Choose a number in the next cell (`mqlab train list` shows them all) and run the cells one by one.

# %% tags=["parameters"]
number: str = "01"  # which exercise
folder: str = "mqlab-training"  # where your attempts are saved
samples: str = ""  # where the captures are; empty: those that come with mqlab
roll_back: bool = False  # True: see only what was known at the alarm, and ask for material

# %%
from mqlab import training

exercise = training.begin(number, folder, samples=samples, roll_back=roll_back)
exercise

# %% [markdown]
# ## What is there?
#
# With `--roll-back`, nothing has arrived yet: `exercise.desk.sources()` lists what you can ask for and what it costs,
# `exercise.desk.ask("logs/server.log")` gets it, `exercise.desk.wait(5)` lets five minutes pass, and
# `exercise.desk.act("…")` is for the moment when you know what to do.

# %%
exercise.desk

# %%
capture = exercise.capture
capture

# %% [markdown]
# ## The symptom
#
# What does the story complain about, and does the material show it? A figure first; then the events around that moment.
# You have everything as in a real incident: `capture.sql("…")`, `capture.between("12:20", "12:25")` with full moments,
# `capture.lines("server.log", 834)`, `capture.lag(group, topic)`; docs/tables.md describes the tables.

# %%
capture.plot.timeline()

# %%
capture.sql("select source, kind, count(*) as rows from events group by 1, 2 order by 3 desc limit 25").toPandas()

# %% [markdown]
# ## The questions
#
# One cell per question, in this order. An exercise asks only what its material can answer, so some of them may be
# missing.

# %%
exercise.ask("starts_in")

# %%
exercise.ask("since")

# %%
exercise.ask("who")

# %%
exercise.ask("mechanism")

# %%
exercise.ask("line")

# %%
exercise.ask("amount")

# %%
exercise.ask("repair")

# %%
exercise.ask("side_effect")

# %%
exercise.ask("verify")

# %% [markdown]
# ## The debrief
#
# Opens with the last answer: what happened when, what proves it, what an expert would have looked at in which order.

# %%
exercise.debrief()

# %%
exercise.timeline()
