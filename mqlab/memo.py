"""Answers about Facts that several rules ask for, worked out once for each Facts."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from mqlab.facts import Facts

P = ParamSpec("P")
R = TypeVar("R")


def per_facts(function: Callable[Concatenate[Facts, P], R]) -> Callable[Concatenate[Facts, P], R]:
    """*function*, whose answer is kept beside the Facts that it was asked about; arguments must be hashable."""

    @wraps(function)
    def once(facts: Facts, *args: P.args, **kwargs: P.kwargs) -> R:
        kept = facts.__dict__.setdefault("_answers", {})
        key = (function, args, tuple(sorted(kwargs.items())))
        if key not in kept:
            kept[key] = function(facts, *args, **kwargs)
        answer: R = kept[key]
        return answer

    return once
