"""What a text says, as data: a rewording leaves it as it is."""

from mqlab.findings import measured
from mqlab.words import Text, filled
from mqlab.words.filling import Measure


def told(text):
    """The values that *text* shows or depends on, by name: without one of them it would read otherwise."""
    return {
        name: value.interval.likely if isinstance(value, Measure) else value
        for name, value in text.values.items()
        if value is not None and _without(text, name) != text
    }


def _without(text, name):
    try:
        return filled(text.room, text.key, {**text.values, name: None})
    except LookupError:
        return None


def statement(incident, measures, **values):
    """What a finding of a class says that has these measures and knows these values."""
    return Text(incident, "statement", measured(measures) | values)
