"""Answers about Facts that several rules ask for, worked out once for each Facts."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from mqlab.facts import Facts

F = TypeVar("F", bound=Callable[..., Any])


def per_facts(function: F) -> F:
    """*function*, which works its answer out once for each Facts and other arguments; these must be hashable."""
    answers: WeakKeyDictionary[Facts, dict[tuple[Any, ...], Any]] = WeakKeyDictionary()

    @wraps(function)
    def cached(facts: Facts, *args: Any) -> Any:
        known = answers.setdefault(facts, {})
        if args not in known:
            known[args] = function(facts, *args)
        return known[args]

    return cast(F, cached)
