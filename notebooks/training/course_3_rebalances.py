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
# # 3. Rebalances and timeouts
#
# A chapter of the course. Run all cells, and move the sliders. `mqlab train course` writes the same chapters
# as pages that need no kernel.

# %%
from IPython.display import Markdown

from mqlab.training import course
from mqlab.training.course import rebalances

before, after = course.reading("rebalances")
Markdown(before)

# %%
figure = rebalances.figure()
figure

# %%
Markdown(rebalances.CAPTION)

# %%
Markdown(after)

# %% [markdown]
# ## Try it
#
# Records become twice as slow: which `max.poll.records` is small enough now? What does a longer interval do instead?

# %%
rebalances.sliders()

# %%
assert len(figure.frames) == len(figure.layout.sliders[0].steps)
assert rebalances.trial(rebalances.course(400)).outcome.commits == 0  # 320 s is above 300 s
