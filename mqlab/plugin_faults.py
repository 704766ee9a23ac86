"""Plug-ins come into force: read, imported, and looked at as a whole before anything is done with them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mqlab import plugins
from mqlab.catalogue import INCIDENTS
from mqlab.commands import commands, read_toml
from mqlab.detectors import BUILT_IN as RULES
from mqlab.detectors import foreign
from mqlab.detectors.known_errors import EXPLAINS
from mqlab.errors import PluginError
from mqlab.formats.foreign import formats
from mqlab.formats.registry import BUILT_IN as FORMATS
from mqlab.known_errors import known_errors
from mqlab.plugins import CATALOGUE, COMMANDS, EVENTS, KNOWN_ERRORS, Plugin

_SLUG = re.compile("[a-z0-9]+(-[a-z0-9]+)*")


def taken(given: Sequence[str]) -> tuple[Plugin, ...]:
    """The plug-ins that were *given*, else those of ``$MQLAB_PLUGINS``; they are in force from now on, and no others.

    Raises:
        PluginError: one of them cannot be used; what was in force stays so.
    """
    before = plugins.in_force()
    found = tuple(dict.fromkeys(plugins.read(name) for name in plugins.named(given)))
    plugins.use(found)
    try:
        for place, because in _faults() if found else ():
            raise PluginError(place, because)
    except PluginError:
        plugins.use(before)
        raise
    return found


def _faults() -> Iterator[tuple[str, str]]:
    """What is wrong with the plug-ins in force, though each module and entry by itself is sound."""
    for table in (CATALOGUE, KNOWN_ERRORS, COMMANDS, EVENTS):
        for entry in sorted(plugins.tables(table).keys() & read_toml(table).keys()):
            yield plugins.place(table, entry), f"{entry} is a name of mqlab's own; take another one"
    for kind, words in plugins.tables(EVENTS).items():
        if not isinstance(words, str):
            yield plugins.place(EVENTS, kind), f"{kind} must be a text: what the event means to a reader"
    yield from _faults_of_classes()
    yield from _faults_of_modules()
    for name in plugins.tables(KNOWN_ERRORS):
        incident = known_errors()[name].incident
        if incident not in EXPLAINS and incident not in plugins.tables(CATALOGUE):
            yield (
                plugins.place(KNOWN_ERRORS, name),
                f"the class {incident} of {name} is told by other evidence than lines; take one of your own "
                f"{CATALOGUE}, or of {', '.join(sorted(EXPLAINS))}",
            )


def _faults_of_classes() -> Iterator[tuple[str, str]]:
    commands()
    known = {notebook for slug in read_toml(CATALOGUE) for notebook in INCIDENTS[slug].notebooks}
    for slug in plugins.tables(CATALOGUE):
        incident, place = INCIDENTS[slug], plugins.place(CATALOGUE, slug)
        if not _SLUG.fullmatch(slug):
            yield place, f"the name {slug} must be small letters, digits and dashes"
        if other := sorted({*incident.may_bring} - set(INCIDENTS)):
            yield place, f"{slug} may bring {', '.join(other)}, which is not a class"
        if other := sorted({*incident.notebooks} - known):
            yield place, f"{slug} names {', '.join(other)}; the notebooks are {', '.join(sorted(known))}"
        if not incident.systems or set(incident.systems) - {"kafka", "rocketmq", "mqtt"}:
            yield place, f"the systems of {slug} must be some of kafka, rocketmq, mqtt"


def _faults_of_modules() -> Iterator[tuple[str, str]]:
    names = [form.FORMAT.name for form in FORMATS]
    for form in formats():
        if form.FORMAT.name in names:
            yield form.place, f"there is a format {form.FORMAT.name} already; take another name"
        names.append(form.FORMAT.name)
    slugs = [rule.INCIDENT for rule in RULES]
    for rule in foreign.rules():
        if rule.INCIDENT in slugs:
            yield rule.place, f"{rule.INCIDENT} has a rule already; describe a class of your own"
        slugs.append(rule.INCIDENT)
