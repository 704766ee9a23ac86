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
# # 1. Offsets and lag
#
# A chapter of the course. Run all cells, and move the sliders. `mqlab train course` writes the same chapters
# as pages that need no kernel.

# %%
from IPython.display import Markdown

from mqlab.training import course
from mqlab.training.course import lag

before, after = course.reading("lag")
Markdown(before)

# %%
figure = lag.figure()
figure

# %%
Markdown(lag.CAPTION)

# %%
Markdown(after)

# %% [markdown]
# ## Try it
#
# At which rate is the backlog of a ten-minute outage drained within five minutes? Then double the inflow.

# %%
lag.sliders()

# %%
assert len(figure.frames) == len(figure.layout.sliders[0].steps)
assert lag.backlog(1_500).gone == 1_200  # 600,000 records ÷ (1,500 − 1,000) a second
