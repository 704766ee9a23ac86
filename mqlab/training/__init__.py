"""Training: real captures with their truth hidden, questions that are checked at once, a debrief, a course.

Nothing of the core imports it. ``exercise`` is what a learner gets, ``attempt`` what he did with it, ``debrief`` what
he reads afterwards; ``keys`` and ``sealing`` are the instructor's side; ``desk`` rolls back time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mqlab.errors import extras

if TYPE_CHECKING:
    from mqlab.training.practice import at, begin

__all__ = ["at", "begin"]


def __getattr__(name: str) -> Any:
    """``begin`` and ``at``; what they need is imported when one of them is asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'mqlab.training' has no attribute {name!r}")
    with extras("mqlab.training"):
        from mqlab.training import practice

    return getattr(practice, name)
