from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.material.names import Stamp, moment_in, without_moment

NOON = datetime(2026, 11, 21, 12, 19, 18, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "name",
    [
        "consumer-groups-describe.20261121T121918Z.txt",
        "consumerOffset.json.20261121T121918Z",
        "groups-2026-11-21T12-19-18Z.txt",
        "groups-2026-11-21T12:19:18Z",
        "groups.20261121T201918+0800.txt",
        "groups.2026-11-21T07:19:18-05:00.txt",
        "orders.v2.20261120T000000Z.20261121T121918Z.txt",
        f"{int(NOON)}.json",
        f"{int(NOON)}",
        f"lag_{int(NOON)}.json",
        f"{int(NOON)}000",
    ],
)
def test_a_zoned_stamp_in_a_name_is_the_moment_of_the_snapshot(name):
    assert moment_in(name) == Stamp(NOON, zoned=True)


@pytest.mark.parametrize(
    "name", ["groups-20261121-121918.txt", "20261121_121918", "20261121121918.txt", "a.2026-11-21_12-19-18.txt"]
)
def test_a_stamp_without_zone_is_read_as_utc_and_says_so(name):
    assert moment_in(name) == Stamp(NOON, zoned=False)


def test_minutes_are_enough_where_the_zone_is_written():
    assert moment_in("groups.20261121T1219Z.txt") == Stamp(NOON - 18, zoned=True)


def test_milliseconds_are_kept():
    assert moment_in("1795265983439") == Stamp(1795265983.439, zoned=True)


@pytest.mark.parametrize(
    "name",
    [
        "server.log",
        "server.log.2026-11-21-11",
        "server.log.2026-11-21",
        "server.log.2026-11-21-11-30",
        "gc-20261121.log",
        "10.20.0.83@7#1730233147601",
        "172.17.0.1@8",
        "00000000000000000000.log",
        "groups.20261321T121918Z.txt",
        "segment-1073741824.txt",
        "",
    ],
)
def test_other_numbers_in_names_are_no_moment(name):
    assert moment_in(name) is None


@pytest.mark.parametrize(
    ("path", "shared"),
    [
        ("m/kafka-1.20261123T094811Z.prom", "m/kafka-1.*.prom"),
        ("m/1795263520/kafka_1.prom", "m/*/kafka_1.prom"),
        ("m/k_1_1795263520.prom", "m/k_1_*.prom"),
        ("kafka-1.prom", "kafka-1.prom"),
    ],
)
def test_scrapes_of_one_exporter_share_a_path(path, shared):
    assert without_moment(path).strip("/") == shared


@given(st.text(alphabet="0123456789-_.:TZ+#@a"))
def test_no_name_breaks_it(name):
    moment_in(name)
