"""The diagnosis as JSON is a contract with other programs."""

import json
from dataclasses import replace
from pathlib import Path

from report_example import diagnosis, example, oversize, split_loop

from mqlab.diagnosis import NotChecked, Rejected
from mqlab.jsonout import diagnosis_json, dumps


def test_the_keys_are_those_of_the_schema():
    told = diagnosis_json(example()[1])

    assert list(told) == [
        "schema", "version", "material", "verdict", "findings", "rejected", "clear", "not_checked", "changes",
    ]  # fmt: skip
    assert told["schema"] == "mqlab.diagnosis/2"
    assert list(told["findings"][0]) == [
        "id", "incident", "severity", "certainty", "subject", "started_at", "ended_at", "ongoing", "over",
        "measures", "evidence", "explains", "statement", "mitigate", "remedy", "verify",
    ]  # fmt: skip
    assert list(told["material"]) == [
        "files", "bytes", "lines", "data_lines", "noise_lines", "rejected_lines", "unrecognised", "window",
        "time_zones", "copies",
    ]  # fmt: skip


def test_times_are_iso_with_z():
    told = diagnosis_json(example()[1])

    assert told["findings"][0]["started_at"] == "2026-11-21T12:20:44.201Z"
    assert told["findings"][1]["ended_at"] is None
    assert told["material"]["window"] == ["2026-11-21T12:17:26Z", "2026-11-21T12:25:00Z"]


def test_measures_have_six_significant_digits_and_whole_numbers_stay_whole():
    finding = replace(
        split_loop(), measures={"bytes_out": 762_550_740, "amplification_factor": 15.10384999, "odd": float("inf")}
    )

    assert diagnosis_json(diagnosis(finding))["findings"][0]["measures"] == {
        "amplification_factor": 15.1038,
        "bytes_out": 762_551_000,
        "odd": None,
    }


def test_only_samples_have_a_pointer():
    evidence = diagnosis_json(example()[1])["findings"][0]["evidence"]

    assert list(evidence[0]) == ["source", "line", "text"]
    assert evidence[4] == {
        "source": "metrics/node_network_transmit_bytes_total.json",
        "line": None,
        "text": '[1795263790,"892646443"]',
        "pointer": '{device="eth0",instance="bridge-1:19100"}',
    }


def test_a_change_names_its_line():
    assert diagnosis_json(example()[1])["changes"] == [
        {
            "at": "2026-11-21T12:23:20Z",
            "what": "producer mqtt-bridge batch.size",
            "from": "1638400",
            "to": "16384",
            "source": "clients/bridge.log",
            "line": 755,
        }
    ]


def test_the_order_of_what_is_not_ranked_does_not_matter():
    one = diagnosis(split_loop(), oversize())
    other = replace(
        one,
        clear=one.clear[::-1],
        rejected=one.rejected[::-1],
        not_checked=(NotChecked("z", (), ()), *one.not_checked),
    )
    same = replace(one, not_checked=(*one.not_checked, NotChecked("z", (), ())))

    assert dumps(other) == dumps(same)
    assert [entry["incident"] for entry in diagnosis_json(other)["rejected"]] == [
        "fan-out", "replication-traffic", "retry-amplification",
    ]  # fmt: skip


def test_the_text_is_one_json_object_whatever_the_material_holds():
    hostile = replace(example()[1], rejected=(Rejected("fan-out", "</script>\u2028 \udc80"),))
    text = dumps(hostile).encode("utf-8", "backslashreplace").decode("utf-8")

    assert json.loads(text)["rejected"][0]["because"] == "</script>\u2028 \udc80"


def test_every_key_of_the_document_is_described():
    described = (Path(__file__).parents[1] / "docs" / "diagnosis.md").read_text(encoding="utf-8")
    document = diagnosis_json(example()[1])
    keys = {*document, *document["material"], *document["verdict"], *document["findings"][0]}
    assert sorted(key for key in keys if f"`{key}`" not in described) == []
