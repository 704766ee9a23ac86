"""The forms of `secret_forms.txt` with planted values; no value is another's part."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import NamedTuple

_PLACE = re.compile("«([a-z]?)»")


class Form(NamedTuple):
    """One form with its planted values."""

    name: str
    text: str
    planted: tuple[str, ...]


def _value(kind, number, where):
    digest = hashlib.sha512(f"{where}{number}".encode()).digest()
    match kind:
        case "w":
            return tuple(f"{word}{where}{number}" for word in ("correct", "horse", "staple"))
        case "b":
            return (base64.b64encode(digest[:33]).decode(),)
        case "u":
            return (base64.urlsafe_b64encode(digest[:33]).decode(),)
        case "h":
            return (digest.hex()[:32],)
        case "k":
            return (base64.b64encode(digest[:48]).decode(),)
        case "n":
            return (str(71_000_000 + number),)
        case _:
            return (f"s3cr3tVal{where}{number}q7",)


def forms(where=""):
    """All forms, their values those of this place."""
    found, number = [], 100
    text = Path(__file__).with_name("secret_forms.txt").read_text()
    for part in text.split("\n=== ")[1:]:
        name, _, body = part.partition("\n")
        planted = []

        def plant(place, planted=planted):
            nonlocal number
            number += 1
            words = _value(place[1], number, where)
            planted.extend(words)
            return " ".join(words)

        body = _PLACE.sub(plant, body)
        found.append(Form(name, body.rstrip("\n"), tuple(planted)))
    return found
