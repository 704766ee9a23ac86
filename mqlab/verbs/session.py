"""``mqlab session``: a Spark that stays warm on this machine, so that the next triage answers sooner."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from mqlab.verbs.material import progress

NOT_RUNNING = 1


@click.group()
def session() -> None:
    """Keep Spark warm: the next triage, report or notebook on this machine uses it by itself."""


@session.command()
def start() -> int:
    """Start the warm session; harmless where it runs already."""
    from mqlab import java, jvm, warm
    from mqlab.cache.workspace import local_folder
    from mqlab.tuning import server
    from mqlab.warming import warm_up

    shared, cache = java.sharing(java.java()), local_folder()
    running, new = warm.start(cache, server(cache, shared, jvm.class_path()))
    if new:
        with progress() as tell:
            tell("warming up")
            warm_up()
    click.echo(f"{'started' if new else 'runs already'}: pid {running.pid}, localhost:{running.port}")
    return 0


@session.command()
def stop() -> int:
    """Stop the warm session; harmless where none runs."""
    from mqlab import warm
    from mqlab.cache.workspace import local_folder

    click.echo("stopped" if warm.stop(local_folder()) else "no warm session runs")
    return 0


@session.command()
def status() -> int:
    """Show the warm session: exit code 0 where it answers, 1 where none runs or it does not answer."""
    from mqlab import warm
    from mqlab.cache.workspace import local_folder

    cache = local_folder()
    found = warm.found(cache)
    if found is None:
        click.echo("no warm session runs")
        return NOT_RUNNING
    answers = warm.answering(cache) is not None
    click.echo(
        f"pid      {found.pid}\n"
        f"address  localhost:{found.port}\n"
        f"since    {datetime.fromtimestamp(found.since, UTC):%Y-%m-%d %H:%M:%S} UTC\n"
        f"spark    {found.spark_version}\n"
        f"memory   {found.resident / 1e6:.0f} MB\n"
        f"state    {'answers' if answers else 'does not answer, or is of another Spark version: start it again'}"
    )
    return 0 if answers else NOT_RUNNING
