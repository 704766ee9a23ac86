"""Tries of locks cost next to nothing in tests of what is made here; the bundled exercises keep their own."""

import exercise_builder
import pytest


@pytest.fixture(autouse=True)
def _cheap(monkeypatch):
    exercise_builder.cheap(monkeypatch)
