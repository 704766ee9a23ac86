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
# # 7. Chains: from MQTT through a bridge to Kafka
#
# A chapter of the course. Run all cells, and move the sliders. `mqlab train course` writes the same chapters
# as pages that need no kernel.

# %%
from IPython.display import Markdown

from mqlab.training import course
from mqlab.training.course import chains

before, after = course.reading("chains")
Markdown(before)

# %%
figure = chains.figure()
figure

# %%
Markdown(chains.CAPTION)

# %%
Markdown(after)

# %% [markdown]
# ## Try it
#
# At which limit is nothing dropped for one dead session out of four? How many messages reach Kafka then?

# %%
chains.sliders()

# %%
assert len(figure.frames) == len(figure.layout.sliders[0].steps)
assert chains.chain(1) == chains.Chain(published=20_000, waiting=1_000, dropped=4_000, written=15_000)
