"""Settings that an application prints in one line: whose they are, and what is none."""

import pytest

from mqlab.formats.printed_settings import in_one_line

START = "2026-11-21 12:18:54,559 INFO worker: starting, "


def told(line):
    return [tuple(dict(row.values)[name] for name in ("scope", "owner", "key", "value")) for row in in_one_line(line)]


@pytest.mark.parametrize(
    "line",
    [
        f"{START}consumer settings client.id=c-1 enable.auto.commit=False group.id=billing",
        f"{START}{{'client.id': 'c-1', 'enable.auto.commit': False, 'group.id': 'billing'}}",
        f'{START}{{"client.id":"c-1","enable.auto.commit":false,"group.id":"billing"}}',
    ],
    ids=["pairs", "a Python dict", "JSON"],
)
def test_settings_in_one_line_belong_to_the_client_that_they_name(line):
    assert told(line) == [
        ("consumer", "c-1", "client.id", "c-1"),
        ("consumer", "c-1", "enable.auto.commit", "false"),
        ("consumer", "c-1", "group.id", "billing"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        f"{START}received=300 receivedBytes=1812937",
        f"{START}app.name=biller java.version=17 client.id=c-1",
        f"{START}client.id=c-1 group.id=billing acks=all",
        f"{START}enable.auto.commit=false",
    ],
    ids=["counters", "of no client", "of two clients", "of nobody"],
)
def test_what_names_no_single_client_is_no_setting(line):
    assert told(line) == []
