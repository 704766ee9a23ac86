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
# # 6. MQTT sessions
#
# A chapter of the course. Run all cells, and move the sliders. `mqlab train course` writes the same chapters
# as pages that need no kernel.

# %%
from IPython.display import Markdown

from mqlab.training import course
from mqlab.training.course import sessions

before, after = course.reading("sessions")
Markdown(before)

# %%
figure = sessions.figure()
figure

# %%
Markdown(sessions.CAPTION)

# %%
Markdown(after)

# %% [markdown]
# ## Try it
#
# Which limit keeps all of 5,400 messages, and how much memory does that take if each has 20 kB?

# %%
sessions.sliders()

# %%
assert len(figure.frames) == len(figure.layout.sliders[0].steps)
assert sessions.absence(sessions.limited("mosquitto", 1_000), 3_600).survivors[-1] == 1_000
assert sessions.absence(sessions.limited("emqx", 1_000), 3_600).survivors[0] == 2_601
