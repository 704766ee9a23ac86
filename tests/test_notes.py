"""What people know about the incident is read from one small file, and nonsense in it is refused."""

import os
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.errors import BadIncidentFileError
from mqlab.notes import Action, Cost, Dismissed, HumanEvent, IncidentNotes, notes_in, read_notes

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
        ("tilte: typo", "line 1, cannot be used: tilte is an unknown key"),
        ("detected: yesterday", "detected is not a valid time: 'yesterday'"),
        ("detected: [1]", "detected is not a valid time"),
        ("title: 7", "title must be a text, not 7"),
        ("events: soon", "events must be a list"),
        ("events: [{at: 2026-11-21T12:00:00Z}]", r"events\[0\].text must be a text, not None"),
        ("zones: Asia/Shanghai", "zones must map a glob to a name"),
        ("title: [", "it is not valid YAML"),
        ("cost: 40", "cost must be rates and their currency"),
        ("cost: {currency: EUR}", "cost names no rate"),
        ("cost: {per_minute: 40}", "cost.currency must be a text, not None"),
        ("cost: {per_minute: -1, currency: EUR}", "cost.per_minute must be a number of zero or more, not -1"),
        ("cost: {per_minute: .nan, currency: EUR}", "cost.per_minute must be a number"),
        ("cost: {per_minute: true, currency: EUR}", "cost.per_minute must be a number"),
        ("cost: {per_hour: 40, currency: EUR}", "cost has an unknown key 'per_hour'"),
        ("actions: [{owner: Maria}]", r"actions\[0\].what must be a text, not None"),
        ("actions: [{what: x, due: soon}]", r"actions\[0\].due is not a date: 'soon'"),
        ("actions: [{what: x, due: 2026-12-04T10:00:00Z}]", r"actions\[0\].due is not a date"),
        ("actions: [{what: x, status: maybe}]", r"actions\[0\].status must be one of open, in progress, done"),
        ("went_well: luck", "went_well must be a list of texts"),
        ("title: !!python/object:os.system {}", "it is not valid YAML"),
        (
            "impact: a\nevents:\n- at: soon\n  text: x",
            r"line 3, cannot be used: events\[0\].at is not a valid time: 'soon'",
        ),
        ("title: a\nimpact: b\ntitle: c", "line 1, cannot be used: title is there again in line 3: leave one of them"),
        ("title: &a [x]\nwent_well: *a", r"line 2, cannot be used: \*a is an alias: write the value out"),
        ("title: " + "[" * 5000, "line 1, cannot be used: it is nested deeper than 10 levels"),
        ("detected: 2026-13-01T00:00:00Z", "line 1, cannot be used: '2026-13-01T00:00:00Z' is not a valid time"),
        ("detected: 9999-12-31T23:59:59-10:00", "detected is not a valid time: 9999-12-31 23:59:59-10:00"),
        ("detected: 1066-10-14", "detected is not a valid time: 1066-10-14"),
        (
            "detected: 2026-01-01T00:00:00+99:00",
            "line 1, cannot be used: '2026-01-01T00:00:00\\+99:00' is not a valid time",
        ),
        ("actions: [{what: x, due: 2026-02-31}]", "line 1, cannot be used: '2026-02-31' is not a valid time"),
        ("title: " + "9" * 5000, "line 1, cannot be used: a number has more than 40 digits"),
        ("title: 0x_", "line 1, cannot be used: '0x_' is not a valid number"),
        ("title: !!bool x", "line 1, cannot be used: 'x' is not a valid true or false"),
        ('title: "\\ud800"', "line 1, cannot be used: title must be a text"),
        ('title: "\\UFFFFFFFF"', "it is not valid YAML"),
        ("? [a]\n: x", r"line 1, cannot be used: it is not valid YAML \(found unhashable key\)"),
        ("title: a\n\timpact: b", "line 2, cannot be used: it is not valid YAML"),
        ("title: a\n---\ntitle: b", "line 2, cannot be used: it is not valid YAML"),
        ("title: a\x1b[2J", r"the character U\+001B must not stand in it"),
        ("zones: {a: Mars/Olympus}", "line 1, cannot be used: zones.a is not a time zone: 'Mars/Olympus'"),
        ("title: [" + "1," * 9000 + "1]", r"title must be a text, not \[1, 1.{50,60} …\. Correct"),
        ("went_well: [" + "x," * (64 << 10) + "]", "it is larger than 131,072 bytes"),
    ],
)
def test_nonsense_is_refused_with_its_place(tmp_path, text, because):
    file = written(tmp_path, text)

    with pytest.raises(BadIncidentFileError, match=because):
        notes_in(file)


@pytest.mark.parametrize(
    ("make", "because"),
    [
        (lambda file: file.mkdir(), "it is not a file"),
        (os.mkfifo, "it is not a file"),
        (lambda file: file.symlink_to("nowhere"), "No such file or directory"),
        (lambda file: file.symlink_to(file.name), "Too many levels of symbolic links"),
        (lambda file: file.write_bytes(b"impact: a\ntitle: caf\xe9"), r"line 2 is not UTF-8 \(byte 0xe9\)"),
    ],
)
def test_what_is_no_file_of_text_is_refused(tmp_path, make, because):
    make(tmp_path / "incident.yml")

    with pytest.raises(BadIncidentFileError, match=because):
        read_notes([str(tmp_path)])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_file_is_read_as_windows_writes_it(tmp_path, encoding):
    (tmp_path / "incident.yml").write_bytes("title: Überlauf\r\nimpact: 延迟\r\n".encode(encoding))

    assert read_notes([str(tmp_path)]) == IncidentNotes(title="Überlauf", impact="延迟")


WORDS = """title events detected cost zones [ ] { } &a *a <<: !!int !!timestamp ? ' " 2026-13-01 .nan 0x ~ |"""
PIECES = st.sampled_from([*WORDS.split(), ": ", "- ", "\n", "\n  ", "\t", "---\n", "%YAML 9", "9" * 50])


@given(st.one_of(st.lists(PIECES, max_size=40).map("".join).map(str.encode), st.binary(max_size=200)))
def test_content_of_any_kind_is_read_or_refused_in_one_sentence(content):
    with TemporaryDirectory() as folder:
        (Path(folder) / "incident.yml").write_bytes(content)
        try:
            said = repr(read_notes([folder]))
        except BadIncidentFileError as error:
            said = str(error)
    assert said.startswith("IncidentNotes(") or said.endswith("Correct it or move it away.")


def test_secrets_in_texts_are_masked(tmp_path):
    text = "impact: 'pasted password=hunter2, sorry'\nevents: [{at: 2026-11-21T12:00:00Z, text: 'X-Api-Key: abc'}]\n"
    (tmp_path / "incident.yml").write_text(text)
    notes = read_notes([str(tmp_path)])

    assert (notes.impact, notes.events[0].text) == ("pasted password=[masked], sorry", "X-Api-Key: [masked]")
