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
# # How did the class do?
#
# A folder with the submissions of a class (the folders of their attempts, or their `submission.jsonl` under any name),
# judged again with the instructor's key: points are recomputed from the answers, whatever the files say.

# %% tags=["parameters"]
submissions: str = "../../tests/training/submissions"  # the folder of the class
exercises: str = "../../mqlab/training/exercises"  # the set that the class worked through
key: str = "../../tests/truth/training/instructor.key"  # the key that the set was sealed with

# %%
from pathlib import Path

from mqlab.training import results, sealing

rows = results.read(Path(submissions), Path(exercises), sealing.read_key(Path(key)))
table = results.table(rows)
table.groupby("learner")[["points", "of"]].sum()

# %% [markdown]
# ## Which exercise is hard?
#
# Points out of a hundred, by exercise; each mark is a learner.

# %%
results.plot_exercises(rows)

# %% [markdown]
# ## Which question is hard?

# %%
results.plot_questions(rows)

# %%
table.pivot_table(index=["exercise", "class"], columns="question", values="points", aggfunc="mean").round(1)

# %% [markdown]
# ## Which wrong answers were given?

# %%
results.mistakes(rows)

# %% [markdown]
# ## Who needed how many tries and hints?

# %%
table.assign(tries=[len(row.answers) for row in rows]).groupby("learner")[["tries", "hints", "given up"]].sum()
