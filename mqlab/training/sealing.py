"""Exercises sealed: a key and its capture become a file that shows nobody the truth.

Everything follows from the instructor's key and what is sealed, so the same set comes out byte for byte. The debrief
opens with shares that stand in the right replies; the instructor's part opens with the instructor's key alone.
"""

from __future__ import annotations

import base64
import binascii
import secrets
from pathlib import Path
from typing import Any

from mqlab.training import cutting, keys
from mqlab.training.answers import moment_of
from mqlab.training.errors import BadKeyError
from mqlab.training.exercise import Exercise, Question, fingerprint, hint, joined, listing
from mqlab.training.keys import POINTS, Asked, Truth
from mqlab.training.locks import derived, locked, sealed, unsealed


def new_key() -> str:
    """A new instructor's key, as text."""
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


def read_key(path: Path) -> bytes:
    """The instructor's key in a file.

    Raises:
        BadKeyError: it holds none.
    """
    try:
        raw = base64.urlsafe_b64decode(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError, binascii.Error) as error:
        raise BadKeyError(
            f"{path} is not an instructor's key: {error}. Make one with `mqlab train instructor key`."
        ) from None
    if len(raw) != 32:
        raise BadKeyError(f"{path} is not an instructor's key: make one with `mqlab train instructor key`.")
    return raw


def exercise_of(number: str, truth: Truth, secret: bytes, seed: int = 0) -> Exercise:
    """The exercise about one capture; with another *seed* no answer of one set opens a reply of the other.

    Raises:
        BadKeyError: its key lacks something.
    """
    key, own = truth.key, derived(secret, truth.base.name, str(seed))
    questions = keys.asked(truth)
    points = _points(questions)
    known = cutting.index(truth.base, {}, key.get("lesson", {}).get("later", {}))
    shares = {one.name: derived(own, one.name, "share").hex() for one in questions if one.kind == "choice"}
    files = tuple(listing(truth.base))
    told = {**key, "class": truth.incident, "points": points}
    try:
        return Exercise(
            number=number,
            title=key["title"],
            chapter=key["chapter"],
            level=key["level"],
            minutes=key["minutes"],
            story=key["story"].strip(),
            alarm=moment_of(key["alarm"]),
            window=cutting.span(known),
            fingerprint=fingerprint(truth.base),
            files=files,
            known=known,
            questions=tuple(_sealed(one, points[one.name], own, shares.get(one.name)) for one in questions),
            debrief=sealed(told, joined(list(shares.values()))),
            instructor=sealed({"key": told, "name": truth.base.name}, derived(secret, "instructor")),
        )
    except KeyError as error:
        raise BadKeyError(f"The key of {truth.base.name} lacks {error}.") from None


def truth_of(one: Exercise, secret: bytes) -> dict[str, Any]:
    """What an exercise was sealed from: ``key`` and the ``name`` of its capture.

    Raises:
        BadKeyError: it was sealed with another key.
    """
    document: dict[str, Any] = unsealed(one.instructor, derived(secret, "instructor"))
    return document


def _sealed(one: Asked, points: int, own: bytes, share: str | None) -> Question:
    replies: dict[str, Any] = dict(one.replies)
    if share:
        best = next(name for name, reply in replies.items() if reply["credit"] == 1.0)
        replies[best] = {**replies[best], "share": share}
    hints = {hint(number): {"text": text} for number, text in enumerate(one.hints, start=1)}
    return Question(
        name=one.name,
        text=one.text,
        kind=one.kind,
        points=points,
        lock=locked(replies | hints, derived(own, one.name, "salt").hex()[:32]),
        hints=len(hints),
        options=one.options,
        unit=one.unit,
        tolerance=one.tolerance,
    )


def _points(questions: list[Asked]) -> dict[str, int]:
    """Points of each question, a hundred together."""
    whole = sum(POINTS[one.name] for one in questions)
    points = {one.name: round(100 * POINTS[one.name] / whole) for one in questions}
    heaviest = max(points, key=lambda name: points[name])
    points[heaviest] += 100 - sum(points.values())
    return points
