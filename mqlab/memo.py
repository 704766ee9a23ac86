"""Answers about Facts that several rules ask for, worked out once for each Facts."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from mqlab.facts import Facts

F = TypeVar("F", bound=Callable[..., Any])


def per_facts(function: F) -> F:
    """*function*, whose answer is kept beside the Facts that it was asked about; other arguments must be hashable."""

    @wraps(function)
    def once(facts: Facts, *args: Any) -> Any:
        kept = facts.__dict__.setdefault("_answers", {})
        key = (function, args)
        if key not in kept:
            kept[key] = function(facts, *args)
        return kept[key]

    return cast(F, once)
