"""Help as people read it: a verb's own options first, then those that it shares with others, by what they are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import click
from click.shell_completion import CompletionItem

from mqlab.errors import extras
from mqlab.writing import refuse_material

Function = TypeVar("Function", bound=Callable[..., Any])

WIDEST = 120
"""Columns of help where the terminal has as many."""
_WHOLE = 400
"""Characters of a verb's first sentence that a list of verbs shows: all of it, wrapped."""
_MATERIAL = ("paths", "a", "b", "folder")
"""Parameters that name material."""


class Shared(click.Option):
    """An option that several verbs take; help lists it below the heading *of*."""

    def __init__(self, *declared: Any, of: str, **told: Any) -> None:
        super().__init__(*declared, **told)
        self.of = of


def shared(of: str) -> Callable[..., Callable[[Function], Function]]:
    """``click.option`` for options that several verbs take, under the heading *of*."""
    return partial(click.option, cls=Shared, of=of)


class Verb(click.Command):
    """A command whose help lists what it alone takes first, and that writes over no file of its material."""

    def invoke(self, ctx: click.Context) -> Any:
        """Do what it is for.

        Raises:
            OwnMaterialError: its output is a file of the material.
            MissingExtraError: it needs a package that is not installed.
        """
        named = [ctx.params.get(name) or () for name in _MATERIAL]
        given = [path for some in named for path in (some if isinstance(some, tuple) else (some,))]
        if output := ctx.params.get("output"):
            refuse_material(Path(output), given)
        with extras(ctx.command_path):
            return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options below their headings."""
        listed: dict[str, list[tuple[str, str]]] = {"Options": []}
        for option in self.get_params(ctx):
            if isinstance(option, click.Option) and (record := option.get_help_record(ctx)):
                listed.setdefault(option.of if isinstance(option, Shared) else "Options", []).append(record)
        for heading, records in listed.items():
            with formatter.section(heading):
                formatter.write_dl(records)


class Verbs(click.Group):
    """A group of such commands, each listed with its whole first sentence."""

    command_class = Verb
    group_class = type
    headings: ClassVar[Mapping[str, Sequence[str]]] = {}
    """The names of the verbs below each heading of its help, where it has several."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the verbs, without other names of the same."""
        return [name for name in super().list_commands(ctx) if not self.commands[name].hidden]

    def sentence(self, ctx: click.Context, name: str) -> str:
        """What the verb of this *name* is for."""
        verb = self.get_command(ctx, name)
        return verb.get_short_help_str(_WHOLE) if verb else ""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs below their headings."""
        every = self.list_commands(ctx)
        longest = max(map(len, every))
        for heading, names in (self.headings or {"Commands": every}).items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(longest), self.sentence(ctx, name)) for name in names])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The verbs whose names begin so."""
        begun = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        verbs = [CompletionItem(name, help=self.sentence(ctx, name)) for name in begun]
        return [*verbs, *click.Command.shell_complete(self, ctx, incomplete)]
