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
# # 5. Traffic: more out than in
#
# A chapter of the course. Run all cells, and move the sliders. `mqlab train course` writes the same chapters
# as pages that need no kernel.

# %%
from IPython.display import Markdown

from mqlab.training import course
from mqlab.training.course import traffic

before, after = course.reading("traffic")
Markdown(before)

# %%
figure = traffic.figure()
figure

# %%
Markdown(traffic.CAPTION)

# %%
Markdown(after)

# %% [markdown]
# ## Try it
#
# What does a slower link change, and what does it leave unchanged? Then raise the limit until the loop ends.

# %%
traffic.sliders()

# %%
assert len(figure.frames) == len(figure.layout.sliders[0].steps)
assert traffic.sent(traffic.producer(1_638_400))[-1].ends == "delivery-timeout"
assert traffic.sent(traffic.producer(16_384))[-1].rounds == 0
