"""Places of a text, filled with values.

``{name}`` is a value as it is: a name, another text, a number, a measure in its unit, names joined by commas.
``{name:form}`` is written in a form:

- ``duration brief clock minute stamp size percent portion factor rate number digits tenths``: as ``mqlab.units`` writes
  numbers and moments;
- ``and``, ``or``, ``by …``: several joined, ``by ; `` with that mark;
- ``opening``: the first sentence of a text, without its full stop; ``capital``: a text with a capital letter first;
- ``few 3``: the first three, and how many there are besides;
- ``of table``: what the room's table of that name says for the value (``[cause]``, ``pause = "…"``);
- ``one|many``: one of two words, by whether the value is 1 (of several: whether it is one of them);
- any other words: so many of it (``{expulsions:expulsion}`` is ``1 expulsion`` or ``4,200 expulsions``); one ``time``
  is ``once``, two are ``twice``.

``{name?}`` writes nothing: it has to be known, and neither zero nor empty. A name that stands in the room's table
``[part]`` is a part of a sentence: the first of its templates that can be filled. A part that may be left out ends with
an empty one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from string import Formatter
from typing import Any, ClassVar

from mqlab import units
from mqlab.units import Interval

FORMS: Mapping[str, Callable[[Any], str]] = {
    form.__name__: form
    for form in (
        *(units.duration, units.brief, units.clock, units.minute, units.stamp, units.size, units.percent),
        *(units.portion, units.factor, units.rate, units.number, units.digits, units.tenths),
    )
}
"""How numbers and moments are written, by the name of a form."""
TEXTS: Mapping[str, Callable[[str], str]] = {
    "opening": lambda text: re.split(r"\. |。", text)[0].rstrip("."),
    "capital": lambda text: text[:1].upper() + text[1:],
}
"""What of a text is shown, or how it begins."""
_TIMES: Mapping[str, str] = {"1": "once", "2": "twice"}


class Unseen(LookupError):  # noqa: N818 (what the material did not show)
    """A place for which there is no value."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of a finding: its name tells the unit."""

    name: str
    interval: Interval
    rough: bool = False
    """Told as a range, or as about so much, instead of with its bounds behind it."""


Value = str | float | datetime | Enum | Interval | Measure | Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Filling:
    """What fills the places of one text, in English; other languages write some of it otherwise (``telling``)."""

    values: Mapping[str, Value]
    texts: Mapping[str, Any]
    """Of its room: parts and tables."""
    BETWEEN: ClassVar[str] = " "
    """What stands between two clauses."""
    COMMA: ClassVar[str] = ", "
    AND: ClassVar[tuple[str, str]] = ("and", "or")
    MORE: ClassVar[str] = " and {} more"
    ABOUT: ClassVar[str] = "about {}"
    RANGE: ClassVar[tuple[str, str]] = ("up to {1}", "{} to {}")
    """Of a range that begins with nothing, and of another one."""

    def text(self, template: str) -> str:
        """*template* with the values.

        Raises:
            Unseen: a place has no value.
        """
        parts = Formatter().parse(template)
        return "".join(words + (self._place(name, form or "") if name else "") for words, name, form, _ in parts)

    def _place(self, name: str, form: str) -> str:
        """The value called *name* in its form, or the part of that name."""
        if name.endswith("?"):
            return self._asked(name[:-1])
        if (value := self.values.get(name)) is not None:
            return self._formed(value, form)
        if (part := self.texts.get("part", {}).get(name)) is not None:
            return self.first(part, name)
        raise Unseen(name)

    def _asked(self, name: str) -> str:
        value = self.values.get(name)
        if value is None or not (isinstance(value, datetime | Enum) or _amount(value)):
            raise Unseen(name)
        return ""

    def first(self, templates: str | list[str], name: str) -> str:
        """The first of the *templates* called *name* that can be filled.

        Raises:
            Unseen: none can be.
        """
        for template in templates if isinstance(templates, list) else [templates]:
            try:
                return self.text(template)
            except Unseen:
                continue
        raise Unseen(name)

    def _formed(self, value: Any, form: str) -> str:
        """*value* in its form."""
        word, _, rest = form.partition(" ")
        if word == "of" and rest:
            return self._of(value, rest)
        if word == "by" and rest:
            return rest.join(map(self._said, value))
        if word == "few" and rest:
            return self._few(value, int(rest))
        if form in TEXTS:
            return TEXTS[form](self._said(value))
        if form in Filling.AND:
            return self._joined([self._said(one) for one in value], self.AND[Filling.AND.index(form)])
        if "|" in form:
            one, _, many = form.partition("|")
            return one if _amount(value) == 1 else many
        if form in FORMS:
            return self._written(value, FORMS[form])
        return self._counted(value, form) if form else self._said(value)

    def _of(self, value: str | Enum, table: str) -> str:
        entry = self.texts.get(table, {}).get(str(value.value if isinstance(value, Enum) else value))
        if entry is None:
            raise Unseen(f"{table}: {value}")
        return self.first(entry, table)

    def _said(self, value: Value) -> str:
        """A value as it is."""
        if isinstance(value, str):
            return self.name(value)
        if isinstance(value, Measure):
            told = self._rough if value.rough else self._between
            return told(value.interval, lambda number: units.measure(value.name, number))
        if isinstance(value, int | float | Interval):
            return self._written(value, units.number)
        if isinstance(value, datetime):
            return self._written(value, units.clock)
        return self.COMMA.join(map(self._said, value if isinstance(value, Sequence) else ()))

    def name(self, text: str) -> str:
        """A name, or a text."""
        return str(text)

    def local(self, number: str) -> str:
        """A number or moment that ``units`` wrote."""
        return number

    def between(self, interval: str) -> str:
        """A value and its bounds."""
        return interval

    def many(self, amount: str, thing: str) -> str:
        """So many of a thing; one time is once, and two are twice."""
        if thing == "time" and amount in _TIMES:
            return _TIMES[amount]
        return f"{amount} {thing}{'' if amount == '1' else 's'}"

    def _written(self, value: Any, form: Callable[[Any], str]) -> str:
        known = value.interval if isinstance(value, Measure) else value
        return self._between(known, form) if isinstance(known, Interval) else self.local(form(known))

    def _between(self, interval: Interval, form: Callable[[float], str]) -> str:
        """The likely value and its bounds."""
        return self.between(interval.words(lambda number: self.local(form(number))))

    def _rough(self, interval: Interval, form: Callable[[float], str]) -> str:
        """A range of whole things; of others about how much it is."""
        low, likely, high = (self.local(form(end)) for end in (interval.low, interval.likely, interval.high))
        if low == high:
            return likely
        whole = float(interval.likely).is_integer()
        return self.RANGE[interval.low > 0].format(low, high) if whole else self.ABOUT.format(likely)

    def _counted(self, value: Any, thing: str) -> str:
        amount = self._said(value) if isinstance(value, Measure | Interval) else self.local(units.number(value))
        return self.many(amount, thing)

    def _few(self, value: Sequence[str], most: int) -> str:
        """The first of them, and how many there are besides: ``a, b and 3 more``."""
        return self._said(value[:most]) + (self.MORE.format(len(value) - most) if value[most:] else "")

    def _joined(self, texts: list[str], word: str) -> str:
        """``a``, ``a and b``, ``a, b and c``."""
        if len(texts) < 2:
            return "".join(texts)
        return f"{self.COMMA.join(texts[:-1])} {word} {texts[-1]}"


def _amount(value: Any) -> float:
    """How many it is, or how many there are."""
    if isinstance(value, Measure):
        return value.interval.likely
    return value if isinstance(value, int | float) else len(value)
