r"""Access logs of HTTP servers and proxies → METRICS: requests, their times and the slowest, by status and ten seconds.

Sample lines::

    10.21.0.14 - - [21/Nov/2026:11:40:55 +0000] "POST /ner HTTP/1.1" 200 15 rt=0.004
    10.0.0.1 - bob [21/Nov/2026:11:40:55 +0000] "GET / HTTP/1.1" 503 0 "-" "curl/8.5" 2.104
    {"time":"2026-11-21T11:40:55+00:00","request":"POST /ner HTTP/1.1","status":200,"request_time":0.004}

``http.requests`` counts, ``http.seconds`` adds up and ``http.slowest_seconds`` is the longest of what came in within
ten seconds, at the begin of them; label ``status`` is 2xx, 5xx and so on. The moment of a line is that of the request's
end in nginx, of its begin in Apache. A bare number is a time only with a fraction (nginx); Apache's ``%D`` must be
named, such as ``D=4000``, ``duration_us=4000``, ``took=4ms``. Of addresses, URLs and clients nothing is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Line, Lines, Noise, Reject, Spec, regex
from mqlab.formats.values import MICRO, epoch, instant, micros, real
from mqlab.sources import Role
from mqlab.tables import METRICS, Row

FORMAT = Spec("access-log", Role.LOG, (METRICS,))

BUCKET = 10
"""Seconds that one sample spans."""

_STAMP = r"\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4}"
_QUOTED = r'"(?:[^"\\]++|\\.)*+"'
_ROW = regex(rf'[^\[\]"{{]*\[(?P<stamp>{_STAMP})\] {_QUOTED} (?P<status>\d{{3}}) (?:\d+|-)(?= |$)(?P<rest>.*)$')
_ASIDE = regex(rf"(?<= ){_QUOTED}")
"""Referrer and agent may hold anything."""
_BARE = regex(r"(?:^| )(\d{1,6}\.\d{3})(?= |$)")
_TIME = r"(?:(?:r|req|request|resp|response)_?t(?:ime)?|duration|took|elapsed|latency|time)"
_NAMED = regex(
    rf'(?i)(?:^|[\s"])(?P<name>{_TIME}|D)(?:_?(?P<unit>s|ms|us|micros))?[=:]"?(?P<number>\d+(?:\.\d+)?)'
    r"(?P<behind>s|ms|us|µs)?\b"
)
_FACTORS = {"us": 1e-6, "µs": 1e-6, "micros": 1e-6, "ms": 1e-3, "s": 1.0}
_SECONDS = ("rt", "request_time")
"""What nginx's own variable is called, which counts seconds."""

_STATUS = r'"(?:status|status_code|response_code)"\s*:\s*"?(?P<status>\d{3})\b'
_MOMENT = r'"(?:time|time_local|time_iso8601|timestamp|@timestamp|start_time|ts|msec)"\s*:\s*"?(?P<moment>[^",}]+)'
_REQUEST = r'"(?:request|request_method|method|uri|request_uri|path)"\s*:'
_JSON = regex(rf"\s*\{{(?=.*?{_STATUS})(?=.*?{_MOMENT})(?=.*?{_REQUEST}).*\}}\s*$")
_JSON_SECONDS = regex(r'"request_time"\s*:\s*"?(\d+(?:\.\d+)?)"?\s*[,}]')
_JSON_MILLIS = regex(r'"(?:duration|latency|response_time|request_time)_ms"\s*:\s*"?(\d+(?:\.\d+)?)"?\s*[,}]')
_LIKELY = 0.9
"""Share of lines that are requests; the rest may be cut, or remarks of the server."""


@dataclass(slots=True)
class _Bucket:
    """What came in within ten seconds with one class of status."""

    line: int
    requests: int = 0
    seconds: float | None = None
    slowest: float | None = None
    slowest_line: int | None = None

    def add(self, line: int, seconds: float | None) -> None:
        self.requests += 1
        if seconds is None:
            return
        self.seconds = (self.seconds or 0.0) + seconds
        if self.slowest is None or seconds > self.slowest:
            self.slowest, self.slowest_line = seconds, line


def recognise(head: Head) -> bool:
    """True when nearly all lines are requests."""
    lines = console.plain_lines(head)[:200]
    return bool(lines) and sum(bool(_ROW.match(line) or _JSON.match(line)) for line in lines) >= _LIKELY * len(lines)


def parse(lines: Lines, about: About) -> Items:  # noqa: ARG001 - each request tells its moment
    """Three samples for each class of status and ten seconds, told with the last request."""
    buckets: dict[tuple[int, str], _Bucket] = {}
    last: Line | None = None
    for line in lines:
        found = _request(line.text)
        if not found:
            yield Noise(line) if console.is_remark(console.plain(line.text)) else Reject(line)
            continue
        if last:
            yield Data(last)
        last, (at, status, seconds) = line, found
        if at is not None:
            begin = at // (BUCKET * MICRO) * BUCKET * MICRO
            bucket = buckets.get((begin, status)) or buckets.setdefault((begin, status), _Bucket(line.number))
            bucket.add(line.number, seconds)
    if last:
        yield Data(last, tuple(_samples(buckets)))


def _request(text: str) -> tuple[int | None, str, float | None] | None:
    """Moment, first digit of the status and seconds of a request."""
    if text.lstrip(" ").startswith("{"):
        found = _JSON.match(text)
        return (moment(found["moment"]), found["status"][0], _json_seconds(text)) if found else None
    found = _ROW.match(text)
    return (moment(found["stamp"]), found["status"][0], _seconds(found["rest"])) if found else None


def _samples(buckets: Mapping[tuple[int, str], _Bucket]) -> Iterator[Row]:
    for (begin, status), bucket in buckets.items():
        told = (
            ("requests", float(bucket.requests), bucket.line),
            ("seconds", None if bucket.seconds is None else round(bucket.seconds, 6), bucket.line),
            ("slowest_seconds", bucket.slowest, bucket.slowest_line),
        )
        for name, value, line in told:
            if value is not None:
                labels = {"status": f"{status}xx"}
                yield METRICS.row(at=begin, name=f"http.{name}", labels=labels, value=value, line=line, text=None)


@lru_cache(maxsize=1024)
def moment(text: str) -> int | None:
    """The moment of ``1795261256.123``, ``2026-11-21T11:40:55+00:00`` or ``21/Nov/2026:11:40:55 +0000``."""
    at = epoch(text)
    at = instant(text) if at is None else at
    if at is not None:
        return at
    try:
        return micros(datetime.strptime(text, "%d/%b/%Y:%H:%M:%S %z"))
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def _seconds(rest: str) -> float | None:
    """How long the request took; None where what stands behind its bytes does not say."""
    if '"' in rest:
        rest = _ASIDE.sub("", rest)
    found = _NAMED.search(rest)
    factor = _factor(found) if found else None
    number = real(found["number"]) if found else None
    if number is not None and factor is not None:
        return number * factor
    bare = _BARE.search(rest)
    return float(bare[1]) if bare else None


def _factor(found: re.Match[str]) -> float | None:
    unit = ((found["unit"] or "") + (found["behind"] or "")).lower()
    if found["name"] == "D":
        return 1e-6
    return 1.0 if not unit and found["name"].lower() in _SECONDS else _FACTORS.get(unit)


def _json_seconds(text: str) -> float | None:
    if found := _JSON_SECONDS.search(text):
        return real(found[1])
    found = _JSON_MILLIS.search(text)
    millis = real(found[1]) if found else None
    return None if millis is None else millis / 1000
