"""Questions over HTTP, with GET only, and what the answers say of the clock of the host that gave them."""

from __future__ import annotations

import base64
import time
from datetime import UTC
from email.utils import parsedate_to_datetime
from urllib.error import URLError
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import Request, urlopen

from mqlab.gather.manifest import Manifest

TIMEOUT = 30.0
"""Seconds for an answer."""
LARGEST = 256 << 20
"""Bytes of one answer."""
UNANSWERED = (URLError, OSError, ValueError)
"""What a question raises that is not answered: ``HTTPError`` is a ``URLError``."""


def got(url: str, manifest: Manifest, token: str | None = None) -> str:
    """The text behind *url*, whose user and password, or *token*, are sent as a header.

    Raises:
        URLError, OSError, ValueError: no answer, one of failure, or one larger than ``LARGEST``.
    """
    bare, authorization = _without_user(url)
    headers = {"User-Agent": "mqlab-capture", "Accept": "*/*"}
    if token or authorization:
        headers["Authorization"] = f"Bearer {token}" if token else str(authorization)
    if urlsplit(bare).scheme not in ("http", "https"):
        raise ValueError(f"{bare} is no address of HTTP")
    sent = time.time()
    with urlopen(Request(bare, headers=headers), timeout=TIMEOUT) as answer:
        _clock(manifest, urlsplit(bare).netloc, answer.headers.get("Date"), sent)
        text = answer.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise ValueError(f"its answer is larger than {LARGEST >> 20} MB")
    return str(text.decode("utf-8", "backslashreplace"))


def shown(url: str) -> str:
    """The address without user and password."""
    return _without_user(url)[0]


def _without_user(url: str) -> tuple[str, str | None]:
    parts = urlsplit(url)
    if parts.username is None:
        return url, None
    said = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    basic = base64.b64encode(said.encode()).decode()
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])), f"Basic {basic}"


def _clock(manifest: Manifest, host: str, date: str | None, sent: float) -> None:
    """A Date is cut to the second: the true moment lies in the second behind it, and between question and answer."""
    try:
        told = parsedate_to_datetime(date or "").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return
    manifest.clock(host, "Date of its answers over HTTP", told - time.time(), told + 1 - sent)
