"""The classes of incident mqlab knows: what happens, what proves it, and what to do about it.

The texts stand in ``catalogue.toml``, which is read at first use; the pages of ``docs/classes`` are made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mqlab import plugins
from mqlab.commands import Command, commands, read_toml, usable
from mqlab.errors import PluginError
from mqlab.plugins.entries import ensure_fits
from mqlab.words import fetched_by, room

say = room("catalogue")


@dataclass(frozen=True, slots=True)
class Incident:
    """One class of incident."""

    slug: str
    family: str
    title: str
    systems: tuple[str, ...]
    """Of kafka, rocketmq, mqtt: those whose material its rule reads."""
    what: str
    proves: str
    """What certainty *proven* needs."""
    looks_like: str
    """What resembles it and is not."""
    needs: tuple[str, ...]
    """Kinds of evidence, in words."""
    commands: tuple[Command, ...]
    """Read-only commands that gather it, for all of its systems."""
    mechanism: str
    confirm: str
    mitigate: str
    fix: str
    verify: str
    elsewhere: tuple[str, ...] = ()
    """Where it can happen too, and no rule reads it."""
    accounts_for: tuple[str, ...] = ()
    """Events, counters and other symptoms that mean trouble, and that a finding of this class explains."""
    signs: tuple[str, ...] = ()
    """Events that its mechanism prints itself, trouble or not; what a hypothesis is built on."""
    alone: Mapping[str, float] = field(default_factory=dict)
    """Signs that nothing else prints, which make it likely by themselves where they come again and again; and the
    seconds between two lines that tell of two events."""
    may_bring: tuple[str, ...] = ()
    """Classes that may come of it and that only other material shows."""
    shown_by: tuple[str, ...] = ()
    """Kinds of material of which one must be there before the class is clear: roles of sources, ``positions``, lines or
    counters of a ``consumer`` or ``producer``; empty where its rule asks for them."""
    judges: tuple[str, ...] = ()
    """Those of them that its rule looks at one by one: where it rejects the class, they are ordinary."""
    notebooks: tuple[str, ...] = ()
    """Notebooks that explain a finding of this class."""
    cost: tuple[str, ...] = ()
    """Of a class of a plug-in, what a title begins with: templates over the measures of a finding, its subject and its
    facts. The first that can be filled is taken (``mqlab.headline``)."""
    cause: tuple[str, ...] = ()
    """What a title says of the mechanism, the same way; the last one needs nothing."""
    begins: tuple[str, ...] = ()
    """What begins at the start of a finding, the same way."""
    sudden: bool = False
    """It happens at a moment, which a finding tells as its first; its span is that of what was lost by it."""
    benign: bool = False
    """A state or a look-alike: nothing to repair."""
    of_traffic: bool = False
    """Benign, explains traffic and lag, but no line of trouble."""
    visible: bool = False
    """Benign, makes a change that everybody sees."""
    whole: bool = False
    """Benign, hides no other class: unchecked traffic may be inflated, a restart or a reconnect is seen whole."""
    needs_ledger: bool = False
    """Needs an application's ledger; what brings it about is checked without one."""

    @property
    def anywhere(self) -> frozenset[str]:
        """The systems in which it can happen."""
        return frozenset((*self.systems, *self.elsewhere))

    @property
    def fetch(self) -> tuple[str, ...]:
        """What to type to gather what is missing, on any of its systems."""
        return tuple(command.line for command in self.commands)

    def fetch_on(self, system: str, software: Collection[str] = (), missing: Iterable[str] = ()) -> tuple[str, ...]:
        """The same for one system only, without what only other products than *software* have.

        What brings something that is *missing* comes first.
        """
        wanted = {name for text in missing for name in fetched_by(text)}
        own = [command for command in self.commands if usable(command, (system,), software)]
        return tuple(command.line for command in sorted(own, key=lambda command: command.name not in wanted))

    @property
    def explain(self) -> str:
        """A page for an engineer: mechanism, check by hand, mitigation, fix and check that it worked."""
        return self.page()

    def page(self, told: Callable[[str], str] = str) -> str:
        """The same, what is made of values *told* in another language."""
        sections = {
            "What happens": self.what,
            "How it works": self.mechanism,
            "What proves it": self.proves,
            "What looks like it and is not": self.looks_like,
            "How to confirm it by hand": self.confirm,
            "Do now": self.mitigate,
            "Fix": self.fix,
            "Verify": self.verify,
            "What mqlab needs to see": "\n".join(f"- {need}" for need in self.needs),
            "Commands that fetch it": "\n".join(f"    {line}" for line in self.fetch),
        }
        where = {"systems": self.systems, "elsewhere": self.elsewhere or None, "benign": self.benign}
        head = f"## {self.slug}\n\n{told(say('title', title=self.title, **where))}"
        return head + "".join(f"\n\n### {name}\n\n{text.strip(chr(10))}" for name, text in sections.items()) + "\n"


def _incident(slug: str, entry: Mapping[str, Any]) -> Incident:
    known = commands()
    told = ("systems", "elsewhere", "needs", "notebooks", "cost", "cause", "begins")
    names = (*told, "accounts_for", "signs", "may_bring", "shown_by", "judges")
    lists = {name: tuple(entry.get(name, ())) for name in names}
    wanted = tuple(known[name] for name in entry["fetch"])
    rest = {key: value for key, value in entry.items() if key != "fetch"}
    return Incident(slug=slug, commands=wanted, **(rest | lists))


def _of_plugin(slug: str, entry: Any) -> Incident:
    """A class of a plug-in, which may leave out what its other texts say.

    Raises:
        PluginError: it lacks something, or names a command that nobody knows.
    """
    said = entry
    if isinstance(entry, dict):
        told = {"mechanism": entry.get("what"), "confirm": entry.get("proves")}
        said = {"family": "Of your own", "fetch": []} | {k: v for k, v in told.items() if v is not None} | entry
    ensure_fits(plugins.CATALOGUE, slug, said, Incident, {"commands": "fetch"}, ("slug",))
    if unknown := [name for name in said["fetch"] if name not in commands()]:
        because = f"{slug} fetches {', '.join(unknown)}, which no {plugins.COMMANDS} describes"
        raise PluginError(plugins.place(plugins.CATALOGUE, slug), because)
    return _incident(slug, said)


def _incidents() -> Mapping[str, Incident]:
    own = {slug: _of_plugin(slug, entry) for slug, entry in plugins.tables(plugins.CATALOGUE).items()}
    return {slug: _incident(slug, entry) for slug, entry in read_toml(plugins.CATALOGUE).items()} | own


INCIDENTS: Mapping[str, Incident] = plugins.Named(_incidents)
"""Every class by its slug, in the order of the catalogue; read at the first look."""


def markdown() -> str:
    """The whole catalogue, a table of contents first."""
    lines = ["# Incident classes"]
    family = ""
    for incident in INCIDENTS.values():
        if incident.family != family:
            family = incident.family
            lines += ["", f"**{family}**", ""]
        benign = " (benign)" if incident.benign else ""
        lines.append(f"- [`{incident.slug}`](#{incident.slug}){benign}: {incident.title}.")
    return "\n".join(lines) + "\n\n" + "\n".join(incident.explain for incident in INCIDENTS.values())
