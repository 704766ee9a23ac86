"""What people know about the incident is read from one small file, and nonsense in it is refused."""

from datetime import UTC, date, datetime

import pytest

from mqlab.errors import BadIncidentFileError
from mqlab.notes import Action, Cost, Dismissed, HumanEvent, IncidentNotes, notes_in, read_notes
from mqlab.secrets import mask

WHOLE = """
title: Bridge floods Kafka
detected: 2026-11-21T12:21:40Z
mitigated: 2026-11-21 13:23:20+01:00
events: [{at: 2026-11-21T12:22:10Z, text: pager fires for egress}]
impact: 1,200 orders were confirmed late
cost: {per_lost_message: 0.02, per_minute: 40, currency: EUR}
went_well: [the on-call engineer knew the bridge]
went_badly: [nobody watches bytes out]
actions: [{what: Alert on batch splits, owner: Maria, due: 2026-12-04, status: in progress}, {what: Train}]
zones: {"logs/rocketmq/*": Asia/Shanghai}
roles: {"clients/*": bridge}
dismissed: [{id: "fan-out:plant-telemetry", reason: the second group is wanted}]
"""


def written(folder, text):
    file = folder / "incident.yml"
    file.write_text(text, encoding="utf-8")
    return file


def test_every_key_is_read(tmp_path):
    assert notes_in(written(tmp_path, WHOLE)) == IncidentNotes(
        title="Bridge floods Kafka",
        detected=datetime(2026, 11, 21, 12, 21, 40, tzinfo=UTC),
        mitigated=datetime(2026, 11, 21, 12, 23, 20, tzinfo=UTC),
        events=(HumanEvent(datetime(2026, 11, 21, 12, 22, 10, tzinfo=UTC), "pager fires for egress"),),
        impact="1,200 orders were confirmed late",
        cost=Cost("EUR", per_lost_message=0.02, per_minute=40.0),
        went_well=("the on-call engineer knew the bridge",),
        went_badly=("nobody watches bytes out",),
        actions=(Action("Alert on batch splits", "Maria", date(2026, 12, 4), "in progress"), Action("Train")),
        zones=(("logs/rocketmq/*", "Asia/Shanghai"),),
        roles=(("clients/*", "bridge"),),
        dismissed=(Dismissed("fan-out:plant-telemetry", "the second group is wanted"),),
    )


def test_a_time_without_zone_is_utc(tmp_path):
    assert notes_in(written(tmp_path, "resolved: 2026-11-21T12:00:00")).resolved == datetime(
        2026, 11, 21, 12, tzinfo=UTC
    )


def test_an_empty_file_says_nothing(tmp_path):
    assert notes_in(written(tmp_path, "")) == IncidentNotes()


def test_material_without_the_file_has_no_notes(tmp_path):
    assert read_notes([str(tmp_path), "-"]) == IncidentNotes()


def test_the_file_is_found_in_a_folder_and_beside_a_file(tmp_path):
    written(tmp_path, "title: here")
    (tmp_path / "server.log").touch()

    assert read_notes([str(tmp_path)]).title == "here"
    assert read_notes([str(tmp_path / "server.log")]).title == "here"


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("- a list", "must hold the keys"),
        ("tilte: typo", "unknown key 'tilte'"),
        ("detected: yesterday", "detected is no moment: 'yesterday'"),
        ("detected: [1]", "detected is no moment"),
        ("title: 7", "title must be a text, not 7"),
        ("events: soon", "events must be a list"),
        ("events: [{at: 2026-11-21T12:00:00Z}]", r"events\[0\].text must be a text, not None"),
        ("zones: Asia/Shanghai", "zones must map a glob to a name"),
        ("title: [", "it is no YAML"),
        ("cost: 40", "cost must be rates and their currency"),
        ("cost: {currency: EUR}", "cost names no rate"),
        ("cost: {per_minute: 40}", "cost.currency must be a text, not None"),
        ("cost: {per_minute: -1, currency: EUR}", "cost.per_minute must be a number that is not below zero, not -1"),
        ("cost: {per_minute: .nan, currency: EUR}", "cost.per_minute must be a number"),
        ("cost: {per_minute: true, currency: EUR}", "cost.per_minute must be a number"),
        ("cost: {per_hour: 40, currency: EUR}", "cost has an unknown key 'per_hour'"),
        ("actions: [{owner: Maria}]", r"actions\[0\].what must be a text, not None"),
        ("actions: [{what: x, due: soon}]", r"actions\[0\].due is no day: 'soon'"),
        ("actions: [{what: x, due: 2026-12-04T10:00:00Z}]", r"actions\[0\].due is no day"),
        ("actions: [{what: x, status: maybe}]", r"actions\[0\].status must be one of open, in progress, done"),
        ("went_well: luck", "went_well must be a list of texts"),
        ("title: !!python/object:os.system {}", "it is no YAML"),
    ],
)
def test_nonsense_is_refused_with_its_place(tmp_path, text, because):
    file = written(tmp_path, text)

    with pytest.raises(BadIncidentFileError, match=because):
        notes_in(file)


def test_secrets_in_texts_are_masked(tmp_path):
    text = "impact: 'pasted password=hunter2, sorry'\nevents: [{at: 2026-11-21T12:00:00Z, text: 'X-Api-Key: abc'}]\n"
    (tmp_path / "incident.yml").write_text(text)
    notes = read_notes([str(tmp_path)], mask)

    assert (notes.impact, notes.events[0].text) == ("pasted password=[masked], sorry", "X-Api-Key: [masked]")
