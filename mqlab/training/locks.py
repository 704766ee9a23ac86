"""Locked replies: what is said to an answer can only be read by giving that answer.

A lock maps answers to replies. For each answer, scrypt turns it and the lock's salt into a tag and a key; under the tag
stands, encrypted with that key, which reply it is and what decrypts it. The answers themselves are nowhere. Replies are
padded, so that their length tells nothing, and encryption is deterministic (AES-SIV), so that the same truth is sealed
to the same bytes.

What it withstands: reading the file, and guessing for free. Whoever tries every answer by a program of his own gets
there, as with any check that works without a server; each try costs ``COST`` iterations and 8 MB of memory.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from mqlab.training.errors import BadKeyError

COST = 2**13
"""Of one try, where a question has few answers."""
_CHEAP, _MANY = 2**11, 200
"""Of one try, where so many lines are right that sealing would take minutes."""
_TAG, _KEY, _PAGE = 9, 32, 512


@dataclass(frozen=True, slots=True)
class Lock:
    """Which answer opens which reply, as it stands in an exercise's file."""

    salt: str
    cost: int
    boxes: Mapping[str, str]
    """By tag: the place of a reply, and its key, encrypted."""
    replies: tuple[str, ...]

    def open(self, answer: str) -> Any | None:
        """The reply to *answer*, if there is one."""
        tag, key = _stretched(answer, self.salt, self.cost)
        if tag not in self.boxes:
            return None
        told = AESSIV(key).decrypt(base64.b64decode(self.boxes[tag]), None)
        return unsealed(self.replies[int.from_bytes(told[_KEY:])], told[:_KEY])


def locked(replies: Mapping[str, Any], salt: str) -> Lock:
    """*replies* by answer, locked; *salt* is another one for each question."""
    cost = _CHEAP if len(replies) > _MANY else COST
    texts = {answer: json.dumps(reply, sort_keys=True) for answer, reply in replies.items()}
    keys = {text: derived(bytes.fromhex(salt), text)[:_KEY] for text in set(texts.values())}
    places = {text: place for place, text in enumerate(sorted(keys, key=lambda text: keys[text]))}
    boxes = {}
    for answer, text in texts.items():
        tag, key = _stretched(answer, salt, cost)
        told = keys[text] + places[text].to_bytes(2)
        boxes[tag] = base64.b64encode(AESSIV(key).encrypt(told, None)).decode()
    kept = tuple(sealed(json.loads(text), keys[text]) for text in places)
    return Lock(salt, cost, dict(sorted(boxes.items())), kept)


def sealed(document: Any, key: bytes) -> str:
    """*document* as text that only *key* (32 or 64 bytes) opens."""
    raw = json.dumps(document, ensure_ascii=False, sort_keys=True).encode()
    padded = raw.ljust(-(-len(raw) // _PAGE) * _PAGE)
    return base64.b64encode(AESSIV(key).encrypt(padded, None)).decode()


def unsealed(box: str, key: bytes) -> Any:
    """What ``sealed`` was given.

    Raises:
        BadKeyError: it was sealed by another key.
    """
    try:
        return json.loads(AESSIV(key).decrypt(base64.b64decode(box), None))
    except InvalidTag:
        raise BadKeyError("This is the wrong key: the exercise was sealed with another one.") from None


def derived(secret: bytes, *names: str) -> bytes:
    """64 bytes that follow from *secret* and *names*, and from nothing else."""
    return hmac.new(secret, "\0".join(names).encode(), hashlib.sha512).digest()


def _stretched(answer: str, salt: str, cost: int) -> tuple[str, bytes]:
    """Tag and key of an answer; one byte follows it, since scrypt does not see zero bytes at the end."""
    text = answer.encode() + b"\x01"
    raw = hashlib.scrypt(text, salt=bytes.fromhex(salt), n=cost, r=8, p=1, maxmem=2**26, dklen=_TAG + 64)
    return base64.b64encode(raw[:_TAG]).decode(), raw[_TAG:]
