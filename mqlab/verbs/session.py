"""``mqlab session``: a Spark that stays warm on this machine, so that the next triage answers sooner."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from mqlab.verbs.helping import Verbs
from mqlab.verbs.material import progress

_MATERIAL = {
    "server.log": "[2024-10-24 10:00:00,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n",
    "client.log": (
        "2024-10-24 10:00:00,000 INFO  ProducerConfig values: \n"
        "\tacks = all\n"
        "2024-10-24 10:00:01,000 WARN  [Producer clientId=p] Got error produce response in correlation id 7 on "
        "topic-partition t-0, splitting and retrying (2147483646 attempts left). Error: MESSAGE_TOO_LARGE\n"
    ),
    "consumer-groups.txt": (
        "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
        "g     t     0         709            718            9   c-1         /10.0.0.1 c\n"
    ),
    "producer.properties": "acks=all\nbatch.size=16384\n",
    "up.json": (
        '{"status":"success","data":{"resultType":"matrix","result":['
        '{"metric":{"__name__":"up","instance":"b:1"},"values":[[1729764000,"1"],[1729764010,"1"]]}]}}'
    ),
}


def warm_up() -> None:
    """Read a little of each kind of material with the session at hand, and forget it.

    Raises:
        MqlabError: no session, or no place for temporary files.
    """
    from mqlab.cache import workspace
    from mqlab.capture import open_capture

    with workspace.scratch() as place:
        material = place / "material"
        material.mkdir()
        for name, text in _MATERIAL.items():
            (material / name).write_text(text, encoding="utf-8")
        open_capture(material, workspace=str(place / "workspace"))


NOT_RUNNING = 1


@click.group(cls=Verbs)
def session() -> None:
    """Keep Spark running, so the next command starts faster.

    Every triage, report and notebook on this machine uses it.
    """


@session.command()
def start() -> int:
    """Start the warm session; does nothing if it is already running."""
    from mqlab.cache.workspace import local_folder
    from mqlab.spark import jvm, warm

    cache = local_folder()
    running, new = warm.start(cache, jvm.server(cache, jvm.sharing(jvm.java()), jvm.class_path()))
    if new:
        with progress() as tell:
            tell("warming up")
            warm_up()
    click.echo(f"{'started' if new else 'already running'}: pid {running.pid}, {running.address}")
    return 0


@session.command()
def stop() -> int:
    """Stop the warm session; does nothing if none is running."""
    from mqlab.cache.workspace import local_folder
    from mqlab.spark import warm

    click.echo("stopped" if warm.stop(local_folder()) else "no warm session is running")
    return 0


@session.command()
def status() -> int:
    """Show the warm session: exit code 0 if it answers, 1 if none is running or it does not answer."""
    from mqlab.cache.workspace import local_folder
    from mqlab.spark import warm

    cache = local_folder()
    server = warm.found(cache)
    if server is None:
        click.echo("no warm session is running")
        return NOT_RUNNING
    answers = warm.answering(cache) is not None
    click.echo(
        f"pid      {server.pid}\n"
        f"address  {server.address}\n"
        f"since    {datetime.fromtimestamp(server.since, UTC):%Y-%m-%d %H:%M:%S} UTC\n"
        f"spark    {server.spark_version}\n"
        f"memory   {server.resident / 1e6:.0f} MB\n"
        f"state    {'answers' if answers else 'does not answer, or has another Spark version: start it again'}"
    )
    return 0 if answers else NOT_RUNNING
