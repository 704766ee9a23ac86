"""``mqlab completion``: what a shell needs to complete verbs, options, paths, and names of classes and known errors."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem, get_completion_class

from mqlab.verbs.helping import Verb

_LINES = {
    "bash": ("~/.bashrc", 'eval "$(mqlab completion bash)"'),
    "zsh": ("~/.zshrc, below compinit", 'eval "$(mqlab completion zsh)"'),
    "fish": ("~/.config/fish/config.fish", "mqlab completion fish | source"),
}
"""Where each shell reads what it starts with, and the line that belongs there."""


@click.command(cls=Verb)
@click.argument("shell", type=click.Choice(list(_LINES)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> int:
    """Print the completion script for SHELL.

    Its first line shows how to install it.
    """
    made = get_completion_class(shell)
    file, line = _LINES[shell]
    script = made(ctx.find_root().command, {}, "mqlab", "_MQLAB_COMPLETE").source() if made else ""
    click.echo(f"# To enable completion in every new shell, add this line to {file}:  {line}\n{script}")
    return 0


def names(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """The classes and known errors whose names begin so, with what they are."""
    from mqlab.catalogue import INCIDENTS
    from mqlab.known_errors import known_errors

    told = {slug: incident.title for slug, incident in INCIDENTS.items()}
    told |= {name: error.means for name, error in known_errors().items()}
    return [CompletionItem(name, help=text) for name, text in told.items() if name.startswith(begun)]


def classes(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """The classes whose names begin so."""
    from mqlab.catalogue import INCIDENTS

    return [item for item in names(context, parameter, begun) if item.value in INCIDENTS]
