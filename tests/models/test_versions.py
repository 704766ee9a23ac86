"""Versions compare as releases do, and Confluent's numbers become Apache's."""

from __future__ import annotations

import pytest

from mqlab.models.kafka_defaults import Version


def parsed(text: str) -> Version:
    version = Version.parse(text)
    assert version is not None
    return version


def test_versions_sort_by_number_and_not_by_text():
    texts = ["0.8.2.2", "0.10.2.1", "0.11.0.0", "1.0.0", "2.1.0", "2.3.1", "2.10.0", "3.9.1", "4.1.0"]

    assert sorted(texts, key=parsed) == texts


def test_a_pre_release_comes_before_its_release():
    assert parsed("4.1.0-rc1") < parsed("4.1.0")
    assert parsed("4.1.0-SNAPSHOT") == parsed("4.1.0-rc2")


def test_a_missing_patch_number_is_zero():
    assert parsed("3.9") == parsed("3.9.0")
    assert hash(parsed("3.9")) == hash(parsed("3.9.0"))


@pytest.mark.parametrize(
    ("confluent", "apache"),
    [
        ("7.5.0-ccs", "3.5.0"),
        ("7.9.2-ce", "3.9.2"),
        ("6.2.1-ccs", "2.8.1"),
        ("6.0.0", "2.6.0"),
        ("5.1.0-cp1", "2.1.0"),
        ("4.1.2-ccs", "1.1.2"),
        ("3.3.0-ccs", "0.11.0.0"),
        ("8.0.0-ccs", "4.0.0"),
    ],
)
def test_confluent_numbers_become_apache_numbers(confluent, apache):
    assert parsed(confluent) == parsed(apache)


def test_a_confluent_number_outside_the_table_stays_as_it_is():
    assert str(parsed("9.7.1-ccs")) == "9.7.1"


@pytest.mark.parametrize("vendor", ["3.1.1.7.1.9.0-387", "2.1.0.redhat-00003"])
def test_what_vendors_append_does_not_hide_the_number(vendor):
    assert Version.parse(vendor) is not None


@pytest.mark.parametrize("text", ["unknown", "", None, "latest", "3"])
def test_what_is_no_version_is_none(text):
    assert Version.parse(text) is None


def test_a_version_prints_as_kafka_prints_it():
    assert [str(parsed(text)) for text in ("v2.1.0", "0.10.2.1", "4.1.0-rc1")] == ["2.1.0", "0.10.2.1", "4.1.0-rc"]
    assert repr(parsed("2.1.0")) == "Version(2.1.0)"
    assert parsed("2.1.0") != "2.1.0"
