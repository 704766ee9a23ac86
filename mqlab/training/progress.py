"""What a learner has done: the exercises in order with his points, points by chapter, what comes next."""

from __future__ import annotations

from pathlib import Path

from mqlab import units
from mqlab.training.attempt import Attempt
from mqlab.training.exercise import CHAPTERS, Exercise, exercises


def listed(chosen: Path, folder: Path) -> str:
    """Every exercise of a set, by chapter: number, title, level, minutes, where the learner stands."""
    lines: list[str] = []
    chapter = ""
    for one in exercises(chosen):
        if one.chapter != chapter:
            chapter = one.chapter
            lines += [*([""] if lines else []), CHAPTERS[chapter]]
        level = "●" * one.level + "○" * (3 - one.level)
        lines.append(f"  {one.number}  {level}  {one.minutes:>2} min  {one.title:<58} {_state(one, folder)}".rstrip())
    return "\n".join([*lines, "", "mqlab train start NUMBER begins one.", ""])


def told(chosen: Path, folder: Path) -> str:
    """Points by chapter, and the next exercise in the course's order."""
    every = exercises(chosen)
    lines = []
    for chapter, title in CHAPTERS.items():
        inside = [one for one in every if one.chapter == chapter]
        ended = [attempt for attempt in (_attempt(one, folder) for one in inside) if attempt and attempt.submitted]
        mean = f"{sum(a.points for a in ended) / len(ended):.0f} points on average" if ended else ""
        lines.append(f"{title:<18} {len(ended):>2} of {units.counted(len(inside), 'exercise'):<14} {mean}".rstrip())
    following = next((one for one in every if not _ended(one, folder)), None)
    last = f"Next: {following.number}, {following.title}" if following else "You have done them all."
    return "\n".join([*lines, "", last, ""])


def _state(one: Exercise, folder: Path) -> str:
    attempt = _attempt(one, folder)
    if attempt is None:
        return ""
    return f"{attempt.points:g} points" if attempt.submitted else "started"


def _ended(one: Exercise, folder: Path) -> bool:
    attempt = _attempt(one, folder)
    return attempt is not None and attempt.submitted


def _attempt(one: Exercise, folder: Path) -> Attempt | None:
    place = folder / one.number
    return Attempt(place) if (place / "exercise.json").is_file() else None
