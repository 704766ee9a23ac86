"""`mqlab capture`: gather, harmlessly, what a postmortem will need before it rotates away."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import click

from mqlab.gather.bundle import Bundle
from mqlab.gather.manifest import Manifest
from mqlab.gather.schedule import stopped_by_signals
from mqlab.gather.sources import address, gathered, place, said, secret, sources
from mqlab.verbs.helping import Verbs


@click.group(cls=Verbs)
def capture() -> None:
    """Collect data from running brokers for triage; read-only."""
    click.get_current_context().with_resource(stopped_by_signals())
    try:
        Path.cwd()
    except OSError as error:
        raise click.UsageError("The current folder was removed: change to another one.") from error


@capture.command()
@click.option("--bootstrap", metavar="HOST:PORT,...", callback=place, help="Brokers to connect to first.")
@click.option("--config", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="CLIENT.PROPERTIES",
              help="Client properties for the connection, with Java's or librdkafka's names.")  # fmt: skip
@click.option("--topic", multiple=True, metavar="GLOB", help="Only these topics.")
@click.option("--group", multiple=True, metavar="GLOB", help="Only these consumer groups.")
@sources
def kafka(bootstrap: str | None, config: Path | None, output: Path, **asked: Any) -> int:
    """Collect from a Kafka cluster: topics, settings, groups with members and offsets, sampled for a while."""
    from confluent_kafka import KafkaException

    from mqlab.gather.client_config import ClientConfigError, client_config
    from mqlab.gather.kafka_apart import Apart
    from mqlab.gather.kafka_client import check, reason
    from mqlab.gather.schedule import Wanted

    reached, unused = client_config(config, bootstrap)
    servers = {"bootstrap": reached.get("bootstrap.servers"), "config": str(config) if config else None}
    manifest = Manifest("kafka", servers | said(asked), facts={"properties not used": unused})
    try:
        check(reached)
    except KafkaException as error:
        raise ClientConfigError(reason(error)) from error
    with (
        Bundle(output, manifest) as bundle,
        closing(Apart(reached, Wanted(asked["topic"], asked["group"]), bundle)) as apart,
    ):
        return gathered(bundle, [apart], asked)


@capture.command()
@click.option(
    "--namesrv", required=True, metavar="HOST:PORT;...", callback=place, help="Name servers to connect to first."
)
@click.option("--mqadmin", default="mqadmin", show_default=True, metavar="PATH", help="RocketMQ's own program.")
@click.option("--topic", multiple=True, metavar="GLOB", help="Only these topics.")
@click.option("--group", multiple=True, metavar="GLOB", help="Only these consumer groups.")
@sources
def rocketmq(namesrv: str, mqadmin: str, output: Path, **asked: Any) -> int:
    """Collect from a RocketMQ cluster through `mqadmin`; its store and logs with --files."""
    from mqlab.gather.rocketmq import Sampling
    from mqlab.gather.schedule import Wanted

    manifest = Manifest("rocketmq", {"namesrv": namesrv, "mqadmin": mqadmin} | said(asked))
    with Bundle(output, manifest) as bundle:
        return gathered(bundle, [Sampling(bundle, mqadmin, namesrv, Wanted(asked["topic"], asked["group"]))], asked)


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@capture.command()
@click.option(
    "--broker", metavar="HOST[:PORT]", callback=place, help="Any MQTT broker: collect what it publishes below $SYS."
)
@click.option("--username", help="User name for the login.")
@click.option("--password-file", type=_FILE, help="File with the password.")
@click.option("--tls", is_flag=True, help="Use TLS; implied by --cafile.")
@click.option("--cafile", type=_FILE, help="CA certificates to verify the broker's certificate.")
@click.option("--cert", type=_FILE, help="Client certificate.")
@click.option("--cert-key", type=_FILE, help="Key of the client certificate.")
@click.option("--sniff", multiple=True, metavar="FILTER", help="Record the message sizes of these topics.")
@click.option("--sniff-seconds", default=10.0, show_default=True, type=click.FloatRange(min=0.1), help="For this long.")
@click.option(
    "--sniff-messages", default=20_000, show_default=True, type=click.IntRange(min=1), help="At most this many."
)
@click.option("--emqx", metavar="URL", callback=address, help="EMQX's management API: http://key:secret@host:18083.")
@sources
def mqtt(broker: str | None, emqx: str | None, output: Path, **asked: Any) -> int:
    """Collect from an MQTT broker: $SYS, message sizes; from EMQX also sessions, subscriptions, alarms, rules."""
    from mqlab.gather.emqx import Emqx
    from mqlab.gather.mqtt import Broker, Sniff, listening
    from mqlab.gather.schedule import Asking
    from mqlab.gather.web import shown

    if not (broker or emqx):
        raise click.UsageError("Give --broker, --emqx or both.")
    sniff = Sniff(asked["sniff"], asked["sniff_seconds"], asked["sniff_messages"])
    host, _, port = (broker or "").rpartition(":") if ":" in (broker or "") else (broker or "", "", "")
    secure = bool(asked["tls"] or asked["cafile"])
    password = secret(asked["password_file"])
    manifest = Manifest("mqtt", {"broker": broker, "emqx": shown(emqx) if emqx else None} | said(asked))
    with Bundle(output, manifest) as bundle, ExitStack() as stack:
        beside: list[Asking] = [Emqx(bundle, emqx)] if emqx else []
        if broker:
            where = Broker(host, int(port or (8883 if secure else 1883)), asked["username"], password, secure,
                           asked["cafile"], asked["cert"], asked["cert_key"])  # fmt: skip
            beside.append(stack.enter_context(listening(where, sniff, bundle)))
        return gathered(bundle, beside, asked)
