"""Questions over HTTP, with GET only, and what the answers say of the clock of the host that gave them.

User, password and token go to the host that was named and to no other: no address that a redirect names is followed
unless it is of the same host, port and scheme, and neither proxies of the environment nor ``.netrc`` are used.
"""

from __future__ import annotations

import base64
import time
from datetime import UTC
from email.utils import parsedate_to_datetime
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from urllib3 import BaseHTTPResponse, PoolManager, Timeout
from urllib3.exceptions import HTTPError

from mqlab.gather.manifest import Manifest
from mqlab.gather.schedule import RefusedError

TIMEOUT = 30.0
"""Seconds for an answer."""
LARGEST = 256 << 20
"""Bytes of one answer."""
_MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_LOGIN_WANTED, _FORBIDDEN, _SUCCESS = 401, 403, 200
_SUCCESSES = range(200, 300)
UNANSWERED = (OSError, ValueError)
"""What a question raises that is not answered."""


class StatusError(ValueError):
    """The answer is one of failure."""

    def __init__(self, status: int, reason: str | None) -> None:
        super().__init__(f"HTTP {status} {reason or ''}".strip())
        self.status = status


class Web:
    """Asks, over one connection to each host that stays; whoever has refused a login is not asked again."""

    def __init__(self, manifest: Manifest) -> None:
        """Nothing is connected yet; clocks are noted in *manifest*."""
        self._manifest, self._pool = manifest, PoolManager(retries=False, timeout=Timeout(TIMEOUT))
        self._refused: dict[str, RefusedError] = {}
        self._answered: set[str] = set()

    def got(self, url: str, token: str | None = None) -> str:
        """The text behind *url*, whose user and password, or *token*, are sent as a header.

        Raises:
            OSError, ValueError: no answer, one of failure, or one larger than ``LARGEST``.
            RefusedError: the login was refused, now or before.
        """
        bare, authorization = _without_user(url)
        headers = {"User-Agent": "mqlab-capture", "Accept": "*/*"}
        if token or authorization:
            headers["Authorization"] = f"Bearer {token}" if token else str(authorization)
        place = _origin(bare)
        if place in self._refused:
            raise self._refused[place]
        for _ in range(_MOST_REDIRECTS):
            status, found = self._once(bare, headers)
            if status == _SUCCESS:
                self._answered.add(place)
                return found
            if _origin(found) != place:
                raise ValueError(f"it redirects to {_plain(found)}, which is not followed: give that address")
            bare = found
        raise ValueError(f"it redirects more than {_MOST_REDIRECTS} times")

    def _once(self, url: str, headers: dict[str, str]) -> tuple[int, str]:
        """200 and the text, or another status and where it leads."""
        place, sent = _origin(url), time.time()
        try:
            answer = self._pool.request("GET", url, headers=headers, redirect=False, preload_content=False)
            try:
                _clock(self._manifest, urlsplit(url).netloc, answer.headers.get("Date"), sent)
                return self._read(answer, url)
            finally:
                answer.drain_conn()
        except HTTPError as error:
            raise ConnectionError(_reason(error)) from error
        except StatusError as error:
            # Who has been answered before may not see this one page; else nobody was let in.
            if error.status == _LOGIN_WANTED or (error.status == _FORBIDDEN and place not in self._answered):
                self._refused[place] = RefusedError(f"{place} refused it ({error}); it is not asked again")
                raise self._refused[place] from error
            raise

    def _read(self, answer: BaseHTTPResponse, url: str) -> tuple[int, str]:
        if answer.status in _REDIRECTS and (where := answer.headers.get("Location")):
            return answer.status, urljoin(url, where)
        if answer.status not in _SUCCESSES:
            raise StatusError(answer.status, answer.reason)
        text = answer.read(LARGEST + 1)
        if len(text) > LARGEST:
            answer.close()
            raise ValueError(f"its answer is larger than {LARGEST >> 20} MB")
        return _SUCCESS, str(text.decode("utf-8", "backslashreplace"))


def shown(url: str) -> str:
    """The address without user and password."""
    return _without_user(url)[0]


def check(url: str) -> None:
    """See that it is an address, before anything of it is shown or asked.

    Raises:
        ValueError: it is none.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("it is not an HTTP address")


def _origin(url: str) -> str:
    """Scheme, host and port."""
    check(url)
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


def _plain(url: str) -> str:
    parts = urlsplit(shown(url))
    return urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))


def _without_user(url: str) -> tuple[str, str | None]:
    parts = urlsplit(url)
    if parts.username is None:
        return url, None
    said = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    basic = base64.b64encode(said.encode()).decode()
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])), f"Basic {basic}"


def _reason(error: BaseException) -> str:
    """What the system says, in place of the library's objects."""
    behind = error.__cause__ or error.__context__
    return str(getattr(behind, "strerror", None) or error)


def _clock(manifest: Manifest, host: str, date: str | None, sent: float) -> None:
    """A Date is cut to the second: the true moment lies in the second behind it, and between question and answer."""
    try:
        told = parsedate_to_datetime(date or "").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return
    manifest.clock(host, "Date of its answers over HTTP", told - time.time(), told + 1 - sent)
