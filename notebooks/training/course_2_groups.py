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
# # 2. Groups, and who reads what
#
# A chapter of the course. Run all cells, and move the sliders. `mqlab train course` writes the same chapters
# as pages that need no kernel.

# %%
from IPython.display import Markdown

from mqlab.training import course
from mqlab.training.course import groups

before, after = course.reading("groups")
Markdown(before)

# %%
figure = groups.figure()
figure

# %%
Markdown(groups.CAPTION)

# %%
Markdown(after)

# %% [markdown]
# ## Try it
#
# Choose `CONSISTENT_HASH`: which queues have no owner now? Then try more processes than queues, each with its own
# client id.

# %%
groups.sliders()

# %%
assert len(figure.frames) == len(figure.layout.sliders[0].steps)
assert [len(own) for own in groups.allocation(4, 2, 8).owners.values()] == [2, 2, 0, 0, 1, 1, 1, 1]
