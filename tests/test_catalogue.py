"""The catalogue is complete and harmless."""

import dataclasses
import re
import shlex
import subprocess
import sys

import pytest

from mqlab.catalogue import INCIDENTS
from mqlab.commands import commands
from mqlab.detectors import DETECTORS
from mqlab.detectors.known_errors import EXPLAINS
from mqlab.known_errors import known_errors
from mqlab.scope import RULES
from mqlab.words import room

CHANGES_SOMETHING = re.compile(
    r"--(alter|delete|remove|reset|add|execute|create|verify|commit|elect|to-|shift|force|override|output-dir)"
    r"|-(reset|update|delete|clean|wipe)[A-Z]|\b(reset|update|delete|clean|wipe|skip|clone|set)[A-Z]\w+ -"
    r"|\b(rm|mv|kill|systemctl|kick|ban|publish|mosquitto_pub|curl .*-X|restart|scale|exec|edit|apply|patch)\b"
)

each_slug = pytest.mark.parametrize("slug", INCIDENTS)
each_command = pytest.mark.parametrize(
    "command", sorted({c for i in INCIDENTS.values() for c in i.commands}, key=lambda c: c.name), ids=lambda c: c.name
)


def test_every_class_has_a_rule_and_every_rule_a_class():
    ruled = {detector.INCIDENT for detector in DETECTORS}
    assert ruled - set(INCIDENTS) == set(), "describe them in mqlab/catalogue.toml"
    assert set(INCIDENTS) - ruled == set(), "add their modules to DETECTORS in mqlab/detectors/__init__.py"


def test_classes_are_named_in_small_letters_with_hyphens():
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug) for slug in INCIDENTS)


@each_slug
def test_every_field_says_something(slug):
    incident = INCIDENTS[slug]
    optional = {
        "benign",
        "cost",
        "cause",
        "begins",
        "accounts_for",
        "alone",
        "signs",
        "judges",
        "may_bring",
        "shown_by",
        "elsewhere",
        "notebooks",
        "of_traffic",
        "sudden",
        "visible",
        "whole",
        "needs_ledger",
    }
    assert [
        f.name for f in dataclasses.fields(incident) if not getattr(incident, f.name) and f.name not in optional
    ] == []
    assert incident.slug == slug


@each_slug
def test_its_systems_are_known_and_each_can_be_asked(slug):
    assert INCIDENTS[slug].systems
    assert set(INCIDENTS[slug].systems) <= {"kafka", "rocketmq", "mqtt"}
    assert set(INCIDENTS[slug].fetch_on(INCIDENTS[slug].systems[0])) <= set(INCIDENTS[slug].fetch)


@each_slug
def test_its_page_tells_how_to_confirm_mitigate_fix_and_verify(slug):
    page = INCIDENTS[slug].explain
    sections = re.split(r"^### (.+)$", page, flags=re.MULTILINE)
    told = {name: text.strip() for name, text in zip(sections[1::2], sections[2::2], strict=True)}
    assert {"How it works", "How to confirm it by hand", "Do now", "Fix", "Verify"} <= told.keys()
    assert all(told.values())


@each_slug
def test_a_mitigation_names_its_side_effect(slug):
    incident = INCIDENTS[slug]
    harmless = incident.benign or "side effect" in incident.mitigate
    assert harmless


@each_command
def test_a_fetch_command_only_reads(command):
    assert not CHANGES_SOMETHING.search(command.run)


@each_command
def test_a_fetch_command_is_whole_and_saves_under_the_moment(command):
    assert shlex.split(command.run)
    assert "$(date -u +%Y%m%dT%H%M%SZ)." in command.line
    assert "{file}" not in command.line


@pytest.mark.parametrize(
    "line",
    [
        "kafka-topics.sh --alter --topic t",
        "kafka-consumer-groups.sh --reset-offsets --to-latest",
        "mqadmin resetOffsetByTime -g g -t t -s now",
        "emqx_ctl clients kick a",
        "curl -X DELETE http://host/clients/a",
    ],
)
def test_a_command_that_changes_something_would_be_noticed(line):
    assert CHANGES_SOMETHING.search(line)


def test_importing_the_catalogue_reads_nothing():
    code = "import mqlab.catalogue as c, sys; sys.exit('_entries' in vars(c.INCIDENTS))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_makes_a_class_likely_alone_is_a_sign_of_it():
    assert [slug for slug, incident in INCIDENTS.items() if set(incident.alone) - set(incident.signs)] == []


@each_slug
def test_its_systems_are_those_that_its_rule_reads(slug):
    assert set(INCIDENTS[slug].systems) == RULES[slug]
    assert not set(INCIDENTS[slug].elsewhere) & RULES[slug]


@pytest.mark.parametrize("slug", EXPLAINS)
def test_each_system_of_a_class_that_is_said_outright_has_a_line_that_says_it(slug):
    told = {error.system for error in known_errors().values() if error.incident == slug}
    assert "os" in told or set(INCIDENTS[slug].systems) <= told


def test_what_one_product_alone_has_is_not_asked_of_another():
    incident = INCIDENTS["session-queue-drop"]
    assert any(line.startswith("emqx_ctl") for line in incident.fetch_on("mqtt"))
    assert any(line.startswith("emqx_ctl") for line in incident.fetch_on("mqtt", {"mosquitto", "emqx"}))
    elsewhere = incident.fetch_on("mqtt", {"mosquitto"})
    assert elsewhere
    assert not any(line.startswith("emqx_ctl") for line in elsewhere)


def test_the_command_that_brings_what_is_missing_comes_first():
    incident, share = INCIDENTS["session-queue-drop"], room("session-queue-drop")("no-share", client="a", dropped=9)
    usual, asked = (incident.fetch_on("mqtt", {"mosquitto"}, missing) for missing in ((), (share,)))
    ledger = commands()["mqtt-ledger"].line
    assert asked == (ledger, *(line for line in usual if line != ledger)) != usual
