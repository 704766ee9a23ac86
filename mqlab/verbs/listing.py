"""``mqlab incidents``, ``mqlab formats``, ``mqlab checklist``: what this version knows, reads, and would gather."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from mqlab.languages import pages, said
from mqlab.verbs.helping import Verb
from mqlab.verbs.material import deliver, extend, in_form, language, with_plugins
from mqlab.words import room

if TYPE_CHECKING:
    from mqlab.formats.base import Spec

say = room("verbs")

INCIDENTS_SCHEMA, FORMATS_SCHEMA = "mqlab.incidents/1", "mqlab.formats/1"
_OTHERS = "Hosts, metrics, applications and others"
_PRODUCTS = {"mosquitto": "Mosquitto", "emqx": "EMQX", "hivemq": "HiveMQ", "rabbitmq": "RabbitMQ", "vernemq": "VerneMQ"}


@click.command(cls=Verb)
@in_form
@language
@click.option("--markdown", is_flag=True, help="The whole catalogue as Markdown.")
@with_plugins
def incidents(form: str, markdown: bool, plugins: tuple[str, ...]) -> int:
    """List the classes of incident by family.

    `mqlab explain NAME` describes one of them.
    """
    extend(plugins)
    from mqlab import catalogue
    from mqlab.detectors import DETECTORS
    from mqlab.screens.listings import coloured, listing

    known = {detector.INCIDENT for detector in DETECTORS}
    every = list(catalogue.INCIDENTS.values())
    if markdown:
        text = pages.markdown(catalogue.markdown())
    elif form == "json":
        told = [
            {
                "incident": one.slug, "family": one.family, "title": one.title, "systems": one.systems,
                "benign": one.benign, "has_rule": one.slug in known,
            }
            for one in every
        ]  # fmt: skip
        text = _document(INCIDENTS_SCHEMA, "incidents", told)
    else:
        groups = {}
        for family, those in groupby(every, lambda one: one.family):
            groups[family] = [
                (one.slug, say("class", title=one.title, calm=one.benign, no_rule=one.slug not in known))
                for one in those
            ]
        text = listing(groups) + f"\n{said(say('explain'))}\n"
    deliver(text, None, coloured if form == "text" and not markdown else str)
    return 0


@click.command(cls=Verb)
@in_form
@with_plugins
def formats(form: str, plugins: tuple[str, ...]) -> int:
    """List the formats that mqlab reads, by system."""
    extend(plugins)
    from mqlab.formats.registry import FORMATS
    from mqlab.screens.listings import coloured, listing

    every = [(one.FORMAT, _first_line(one.__doc__ or "")) for one in FORMATS]
    if form == "json":
        told = [
            {
                "format": spec.name, "of": _whose(spec), "role": str(spec.role),
                "tables": [table.name for table in spec.tables], "reads": reads,
            }
            for spec, reads in every
        ]  # fmt: skip
        text = _document(FORMATS_SCHEMA, "formats", told)
    else:
        order = ["Kafka", "RocketMQ", "MQTT", _OTHERS]
        groups = {
            whose: [
                (spec.name, reads, ", ".join(t.name for t in spec.tables))
                for spec, reads in every
                if _whose(spec) == whose
            ]
            for whose in order
        }
        text = listing(groups)
    deliver(text, None, coloured if form == "text" else str)
    return 0


def _whose(spec: Spec) -> str:
    systems = {"kafka": "Kafka", "rocketmq": "RocketMQ", "mqtt": "MQTT"}
    return systems.get(spec.software) or ("MQTT" if spec.software in _PRODUCTS or spec.software == "aws" else _OTHERS)


def _first_line(text: str) -> str:
    """What the module says of itself first, without the tables that it fills."""
    first = text.strip().split("\n")[0]
    return first.partition(" → ")[0].replace("``", "").rstrip(".")


def _document(schema: str, name: str, rows: Sequence[Mapping[str, object]]) -> str:
    return json.dumps({"schema": schema, name: rows}, ensure_ascii=False, indent=2) + "\n"


@click.command(cls=Verb)
@click.argument("system", required=False, type=click.Choice(["kafka", "rocketmq", "mqtt"]))
@language
def checklist(system: str | None) -> int:
    """Print the read-only commands of an incident's first hour.

    Data that rotates away first comes first. Without SYSTEM, it lists the checklists.
    """
    from mqlab.commands import checklist as text
    from mqlab.commands import checklists

    click.echo(pages.markdown(text(system) if system else checklists()), nl=False)
    return 0
