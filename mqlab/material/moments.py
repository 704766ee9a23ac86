r"""Moments and levels as people's consoles print them, written as every log reader here reads them.

Sample lines, and how they are read::

    12:18:43,427 WARN  [main] …                    1976-07-01 12:18:43,427 WARN  [main] …
    E0501 12:18:43.123456    7 sync.go:64] lost    1972-05-01 12:18:43.123456 ERROR [sync.go:64] - lost
    [W 240501 12:18:43 conn:71] lost               2024-05-01 12:18:43 WARN [conn:71] - lost
    24/05/01 12:18:43 WARN Fetcher: …              2024-05-01 12:18:43 WARN Fetcher: …
    2024年5月1日 12:18:43 …                         2024-05-01 12:18:43 …
    2024. 5. 1. 오후 3:21:10 …                      2024-05-01 15:21:10 …
    01/05/2024 12:18:43 …                          day and month told by the other lines
    1 de mai. de 2024 12:18:43 …                   2024-05-01 12:18:43 …
    =INFO REPORT==== 1-May-2024::12:18:43 === …    2024-05-01 12:18:43 INFO …
    time="2024-05-01T12:18:43Z" level=warn msg=…   2024-05-01T12:18:43Z WARN [-] - …

What has no year is in ``layouts.NO_YEAR``, what has no date on the day that another line shows, else in
the year ``NO_DATE``; a clock that falls back by more than half a day has passed midnight.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from mqlab.formats import layouts
from mqlab.units import NO_DATE

_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d\d):(?P<second>\d\d)(?P<fraction>[.,:]\d{1,9})?"
_ZONE = r"(?P<zone> ?(?:Z\b|UTC\b|GMT\b|[+-]\d\d:?\d\d\b))?"
_NOON = r"(?P<noon>오전|오후|午前|午後|上午|下午)"
_HALF = r"(?:\s?(?P<half>[AaPp]\.?[Mm]\.?)(?![\w]))?"
_WORDS = {"TRACE": "TRACE", "DEBUG": "DEBUG", "DBG": "DEBUG", "INFO": "INFO", "INF": "INFO", "NOTICE": "INFO",
          "WARN": "WARN", "WRN": "WARN", "WARNING": "WARN", "ERROR": "ERROR", "ERR": "ERROR",
          "FATAL": "FATAL", "CRITICAL": "ERROR", "CRIT": "ERROR", "PANIC": "FATAL", "SEVERE": "ERROR"}  # fmt: skip
_ANY = "|".join(sorted(_WORDS, key=len, reverse=True))
_WORD = rf"(?P<word>{_ANY})"
_BEFORE = rf"(?P<before>[\[(<\"'*|]{{0,2}}(?:(?:{_ANY})\]?[:,]?[ -]{{1,3}}[\[(]?)?)"
_NAMES = (
    ("jan", "янв", "ene", "gen", "stycz"), ("feb", "fev", "fév", "фев", "lut"), ("mar", "mär", "мар"),
    ("apr", "abr", "avr", "апр", "kwi"), ("may", "mai", "мая", "май", "mag", "maj"),
    ("jun", "juin", "июн", "giu", "cze"),
    ("jul", "juil", "июл", "lug", "lip"), ("aug", "ago", "aoû", "авг", "sier"), ("sep", "set", "сен", "wrz"),
    ("oct", "okt", "out", "ott", "окт", "paź"), ("nov", "ноя", "lis"), ("dec", "dez", "dic", "déc", "дек", "gru"),
)  # fmt: skip
_MONTH = rf"(?P<name>(?:{'|'.join(name for names in _NAMES for name in names)})[^\W\d_]*)\.?"
_JOIN = r",?\s*(?:г\.?,?\s*|[ào]s\s+|um\s+|at\s+|в\s+|-\s*)?"
_LAYOUTS = tuple(
    re.compile(layout, re.IGNORECASE)
    for layout in (
        rf"{_BEFORE}(?P<year>\d{{4}})\s?[年.년]\s?(?P<month>\d{{1,2}})\s?[月.월]\s?(?P<day>\d{{1,2}})\s?[日.일]?"
        r"\s?(?:[(（]?[월화수목금토일月火水木金土日][)）]?(?:요일|曜日)?)?\s?"
        rf"{_NOON}?\s?"
        r"(?P<hour>\d{1,2})\s?[:時时시点]\s?(?P<minute>\d{1,2})\s?[:分분]\s?(?P<second>\d{1,2})"
        r"(?P<fraction>[.,]\d{1,9})?\s?[秒초]?",
        rf"{_BEFORE}(?P<year>\d{{4}})/(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}})[ T,]+{_NOON}? ?{_CLOCK}{_HALF}"
        rf"{_ZONE}",
        rf"{_BEFORE}(?P<year>\d{{4}})-W(?P<week>\d\d)-(?P<weekday>\d)[T ]{_CLOCK}{_ZONE}",
        rf"{_BEFORE}(?P<year>\d\d)/(?P<month>\d\d)/(?P<day>\d\d) {_CLOCK}(?= (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b)",
        rf"{_BEFORE}(?P<one>\d{{1,2}})(?P<mark>[./-])(?P<two>\d{{1,2}})[./-](?P<year>\d{{4}}|\d\d){_JOIN}{_CLOCK}{_HALF}{_ZONE}",
        rf"{_BEFORE}(?P<day>\d{{1,2}})\.?[ -](?:de )?{_MONTH}(?:[ -](?:de )?(?P<year>\d{{4}}))?{_JOIN}{_CLOCK}"
        rf"{_HALF}{_ZONE}",
        rf"{_BEFORE}{_MONTH} (?P<day>\d{{1,2}}),? (?P<year>\d{{4}}){_JOIN}{_CLOCK}{_HALF}{_ZONE}",
        rf"{_BEFORE}(?:{_MONTH}| ?(?P<month>\d{{1,2}})[月월]) {{1,2}}(?P<day>\d{{1,2}}) {_CLOCK}",
        rf"=(?P<before>[A-Z]+) REPORT==== (?P<day>\d{{1,2}})-{_MONTH}-(?P<year>\d{{4}})::{_CLOCK} ===",
        rf"(?P<letter>[IWEF])(?P<month>\d\d)(?P<day>\d\d) {_CLOCK}\s+\d+ (?P<where>[\w./-]+:\d+)\]",
        rf"\[(?P<letter>[DIWEC]) (?P<year>\d\d)(?P<month>\d\d)(?P<day>\d\d) {_CLOCK} ?(?P<where>[^\]]{{0,80}})\]",
        rf"{_BEFORE}(?P<month>\d\d)[-/](?P<day>\d\d) {_CLOCK}",
        rf"{_BEFORE}{_CLOCK}{_HALF}(?=[\s\]|,>)\-])",
    )
)
"""Ways to write a moment that ``layouts`` leaves out, since they cost a line of any log too much, or need its file."""
_LETTERS = {"D": "DEBUG", "I": "INFO", "W": "WARN", "E": "ERROR", "F": "FATAL", "C": "FATAL"}
_LEVEL = re.compile(rf"(?:^|[\s\[(|<\"'/]|level=|lvl=){_WORD}(?=[\s\]):|>\"'/,]|$)", re.IGNORECASE)
_UPPER = re.compile(layouts.LEVEL)
_LEVELED = re.compile(rf"\W{{0,2}}{_WORD}(?:\]|:|\b)\s?")
_PAIR = re.compile(r'([\w.]+)=("(?:[^"\\]|\\.)*"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S*|[^\s"]+)')
_MESSAGES, _TIMES, _LEVELS = ("msg", "message"), ("time", "ts", "t", "timestamp"), ("level", "lvl", "severity")
_WHO = ("component", "logger", "module", "caller", "name")
_BOOT = re.compile(
    r"(?:(?P<letter>[EWIDV]) \((?:\d+|(?P<clock>\d\d:\d\d:\d\d\.\d{3}))\) (?P<where>\w+): "
    r"|\[ *\d+\]\[(?P<one>[EWIDV])\]\[(?P<file>[\w.:-]+)\] )"
)
"""ESP-IDF's and Arduino's log: milliseconds since the start of the device, which are no moment, or its clock."""
_PYTHON = re.compile(rf"{_WORD}:(?P<where>[\w.-]+):(?P<message>.*)")
"""``WARNING:kafka.coordinator:…``, as ``logging.basicConfig`` prints it."""
_TAGGED = re.compile(
    r"\s*(?:\d+[ -]\d+\s+)?(?:\[(?P<one>[VDIWEFC])\]\[(?P<where>[\w.:-]{1,60})\]:|(?P<two>[VDIWEF])[ /]"
    r"(?P<tag>[\w.$]{1,60})\s*(?:\(\s*\d+\)|/[\w.]+)?(?::| -(?= )))\s*"
)
"""How ESPHome (``[W][mqtt:257]: ``) and Android (``W/Tag( 214): ``, ``1210 1244 W Tag: ``) write level and place."""
_ELAPSED = re.compile(rf"\d{{1,9}} +(?P<thread>\[[^\]]{{1,80}}\]) +(?P<level>{_ANY}) +")
"""log4j's ``%r [%t] %p``: milliseconds since the start of the program."""
_OWN = re.compile(
    rf"\W{{0,3}}(?:<\d+>)?(?:\[?[A-Z]+\]?:?\s+\[?|[\w.-]+\] )?{layouts.STAMP}|1\d{{9}}: |%\d\|\d{{10}}\.|<\d{{1,3}}>|"
    rf"\[?(?:{layouts.MONTH}) [ \d]\d \d\d:\d\d:\d\d"
)
NEAR = 160
_DATE = 11
"""Characters of a line in which its date stands, where it begins with one."""


@dataclass(slots=True)
class Clock:
    """What the lines of one file tell about how they are to be read, and the day on which it stands."""

    day_first: bool = True
    today: date = date(NO_DATE, 7, 1)
    last: int = -1
    seen: str = ""
    """How the last line with a date of its own begins."""

    @classmethod
    def of(cls, lines: Iterable[str]) -> Clock:
        """What *lines* tell: a figure above 12 is a day, and so is the one that changes; AM and PM go with months."""
        lines = list(lines)
        clock = cls(day_first=cls._is_day_first(lines))
        for line in lines:
            if clock.today.year == NO_DATE and _OWN.match(line[:NEAR]):
                clock._remember(line[:NEAR])
        return clock

    @staticmethod
    def _is_day_first(lines: Sequence[str]) -> bool:
        found = [m for line in lines for layout in _LAYOUTS[4:5] if (m := layout.match(line[:NEAR]))]
        firsts, seconds = {int(m["one"]) for m in found}, {int(m["two"]) for m in found}
        if max(firsts, default=0) > 12 or max(seconds, default=0) > 12:
            return max(firsts) > 12
        if (len(firsts) > 1) != (len(seconds) > 1):
            return len(firsts) > 1
        return not any(m["half"] and m["mark"] == "/" for m in found)

    def read(self, line: str) -> str | None:
        """*line* as logs are written here; itself where it is such a line already, None where it begins no record."""
        near = line[:NEAR]
        if pairs := _pairs(line):
            return pairs
        if _OWN.match(near) or layouts.other_moment(near):
            self._remember(near)
            return self._leveled(line, line)
        for layout in _LAYOUTS:
            if (found := layout.match(near)) and (written := self._written(found)):
                said = found.groupdict()
                rest = line[found.end() :].lstrip(" ])>|,:-") if found["minute"] else line
                if letter := said.get("letter"):
                    return f"{written} {_LETTERS[letter]} [{said['where'] or '-'}] - {rest}"
                if tagged := _TAGGED.match(line, found.end()):
                    return f"{written} {_of_tag(tagged)}{line[tagged.end() :]}"
                before = (said.get("before") or "").strip("[(<\"'*| ")
                kept = line[found.end() :]
                kept = kept[1:] if kept[:1] in "])>|," else kept
                return self._leveled(f"{written} {before + ' ' if before else ''}{kept.lstrip()}", line)
        return self._undated(line)

    def _undated(self, line: str) -> str | None:
        """A line that no date begins as logs are written here; None where it begins no record."""
        if python := _PYTHON.match(line):
            return f"{_WORDS[python['word']]} [-] {python['where']} - {python['message']}"
        if boot := _BOOT.match(line):
            when = f"{self.today} {boot['clock']} " if boot["clock"] else ""
            level = _LETTERS.get(boot["letter"] or boot["one"], "DEBUG")
            return f"{when}{level} [{boot['where'] or boot['file']}] - {line[boot.end() :]}"
        if elapsed := _ELAPSED.match(line):
            return f"{_WORDS[elapsed['level']]} {elapsed['thread']} {line[elapsed.end() :]}"
        if (tagged := _TAGGED.match(line)) and tagged["two"]:
            return f"{_of_tag(tagged)}{line[tagged.end() :]}"
        return line if _LEVELED.match(line) else None

    def begins(self, line: str) -> bool:
        """Whether *line* begins a record."""
        return _OWN.match(line[:NEAR]) is not None or Clock().read(line) is not None

    def _leveled(self, text: str, line: str) -> str:
        """*text* with the level of *line* behind the moment, where it is written as few programs do."""
        near = line[:NEAR]
        if _UPPER.search(near[: layouts.NEAR]) or not (found := _LEVEL.search(near)):
            return text
        stamp = re.match(rf"\W{{0,2}}{layouts.STAMP}\]?", text)
        if not stamp:
            return text
        return f"{text[: stamp.end()].strip('[] ')} {_WORDS[found['word'].upper()]} {text[stamp.end() :].lstrip()}"

    def _remember(self, near: str) -> None:
        if near[:_DATE] == self.seen:
            return
        self.seen = near[:_DATE]
        if (when := layouts.moment(near)) and when.wall > 365 * 86_400_000_000 * 3:
            self.today, self.last = date(1970, 1, 1) + timedelta(when.wall // 86_400_000_000), -1

    def _written(self, found: re.Match[str]) -> str | None:
        """Date and clock as ISO has them; None where they make no sense."""
        said = found.groupdict()
        hour = int(said["hour"])
        half = {"오후": "p", "午後": "p", "下午": "p"}.get(said.get("noon") or "", (said.get("half") or "")[:1].lower())
        if half or said.get("noon"):
            hour = hour % 12 + (12 if half == "p" else 0)
        try:
            day = self._day(said, hour * 3600 + int(said["minute"]) * 60)
        except ValueError:
            return None
        if hour > 23 or int(said["minute"]) > 59 or int(said["second"]) > 59:
            return None
        fraction = (said.get("fraction") or "").replace(":", ".")
        zone = (said.get("zone") or "").strip()
        return f"{day} {hour:02d}:{int(said['minute']):02d}:{int(said['second']):02d}{fraction}{zone}"

    def _day(self, said: dict[str, str | None], seconds: int) -> date:
        year = said.get("year")
        whole = int(layouts.NO_YEAR) if year is None else int(year) + (2000 if len(year) == 2 else 0)
        if said.get("week"):
            return date.fromisocalendar(whole, int(said["week"] or 0), int(said["weekday"] or 0))
        if said.get("one"):
            one, two = int(said["one"] or 0), int(said["two"] or 0)
            day, month = (one, two) if self.day_first or said["mark"] == "." else (two, one)
        elif said.get("day"):
            day, month = int(said["day"] or 0), int(said.get("month") or 0) or _month(said["name"] or "")
        else:
            if 0 <= seconds < self.last - 43_200:
                self.today += timedelta(1)
            self.last = seconds
            return self.today
        if year is None and self.today.year != NO_DATE:
            whole = self.today.year
        self.today, self.last = date(whole, month, day), -1
        return self.today


def _month(name: str) -> int:
    """The number of the month that is called so in some language."""
    low = name.lower()
    return next(n for n, names in enumerate(_NAMES, 1) if low.startswith(names))


def _of_tag(tagged: re.Match[str]) -> str:
    level = _LETTERS.get(tagged["one"] or tagged["two"], "DEBUG")
    return f"{'INFO' if tagged['one'] == 'C' else level} [{tagged['where'] or tagged['tag']}] - "


def _pairs(line: str) -> str | None:
    """A line of ``key=value`` with a message and a level, as logs are written here; None for any other."""
    if "msg=" not in line and "message=" not in line:
        return None
    said = {key: value.strip('"').replace('\\"', '"') for key, value in _PAIR.findall(line)}
    level = next((said[key] for key in _LEVELS if key in said), "").upper()
    message = next((said[key] for key in _MESSAGES if key in said), None)
    if message is None or level not in _WORDS:
        return None
    head = re.match(rf"\W{{0,2}}{layouts.STAMP}", line)
    time = next((said[key] for key in _TIMES if key in said), head[0].strip("[ ") if head else None)
    who = next((said[key] for key in _WHO if key in said), "-")
    used = {*_MESSAGES, *_TIMES, *_LEVELS}
    rest = " ".join(f"{key}={value}" for key, value in said.items() if key not in used)
    return " ".join(part for part in (time, _WORDS[level], "[-]", who, "-", message, rest) if part)
