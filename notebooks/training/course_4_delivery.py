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
# # 4. Delivery: loss and duplication
#
# A chapter of the course. Run all cells, and move the sliders. `mqlab train course` writes the same chapters
# as pages that need no kernel.

# %%
from IPython.display import Markdown

from mqlab.training import course
from mqlab.training.course import delivery

before, after = course.reading("delivery")
Markdown(before)

# %%
figure = delivery.figure()
figure

# %%
Markdown(delivery.CAPTION)

# %%
Markdown(after)

# %% [markdown]
# ## Try it
#
# How many records can `acks=1` lose at most before the follower is out of sync? What changes that number?

# %%
delivery.sliders()

# %%
assert len(figure.frames) == len(figure.layout.sliders[0].steps)
assert delivery.Failover(behind=5).lost("1") == 500
assert delivery.Failover(behind=5).lost("all") == 0
