"""Training: real captures with their truth hidden, questions that are checked at once, a debrief, a course.

Nothing of the core imports it. ``exercise`` is what a learner gets, ``attempt`` what he did with it, ``debrief`` what
he reads afterwards; ``keys`` and ``sealing`` are the instructor's side; ``desk`` rolls back time.
"""

from mqlab.training.practice import at, begin

__all__ = ["at", "begin"]
