"""Client ids taken apart, and how two processes come to share one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.client_ids import (
    BRIDGE_ADDRESS,
    DEFAULT_NAME,
    EXPLICIT_NAME,
    PID_ALONE,
    SMALL_PID,
    ClientId,
    adds_nano,
    parse,
    risks,
)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("192.168.2.124@24110", ClientId("192.168.2.124", "24110", 24110)),
        ("10.20.0.111@9#1246464813326", ClientId("10.20.0.111", "9#1246464813326", 9, 1246464813326)),
        ("10.0.0.1@9#-12", ClientId("10.0.0.1", "9#-12", 9, -12)),
        ("172.17.0.3@DEFAULT", ClientId("172.17.0.3", "DEFAULT")),
        ("10.1.47.109@consumer-1", ClientId("10.1.47.109", "consumer-1")),
        ("192.168.1.219@69@unit1", ClientId("192.168.1.219", "69", 69, unit="unit1")),
        ("10.0.0.1@7#5@unit1@STREAM", ClientId("10.0.0.1", "7#5", 7, 5, "unit1", stream=True)),
        ("10.0.0.1@7#5@STREAM", ClientId("10.0.0.1", "7#5", 7, 5, stream=True)),
        ("10.0.0.1@STREAM", ClientId("10.0.0.1", "STREAM")),
        ("[fe80::1%eth0]@7", ClientId("[fe80::1%eth0]", "7", 7)),
        ("10.0.0.1@ns:9876@31@880", ClientId("10.0.0.1", "ns:9876@31@880", 31, 880)),
        ("pod-7f@1@0@2k9x", ClientId("pod-7f", "1@0@2k9x", 1, int("2k9x", 36))),
        ("no-address", None),
        ("@7", None),
        ("10.0.0.1@", None),
    ],
)
def test_an_id_has_an_address_an_instance_and_whatever_else_its_client_adds(text, parts):
    assert parse(text) == parts


@given(
    st.ip_addresses(v=4).map(str),
    st.integers(1, 4_194_304),
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | st.from_regex(r"[a-z]\w{0,8}", fullmatch=True),
    st.booleans(),
)
def test_what_a_java_client_builds_is_taken_apart_again(ip, pid, nano, unit, stream):
    instance = str(pid) if nano is None else f"{pid}#{nano}"
    text = f"{ip}@{instance}" + (f"@{unit}" if unit else "") + ("@STREAM" if stream else "")

    assert parse(text) == ClientId(ip, instance, pid, nano, unit, stream)


@given(st.text(alphabet="a1@#.-STREAM", max_size=30))
def test_any_text_is_an_id_or_none(text):
    client = parse(text)

    assert client is None or text.startswith(f"{client.ip}@{client.instance}")


@pytest.mark.parametrize(
    ("text", "version", "ways"),
    [
        ("172.17.0.1@9", "V4_8_0", (BRIDGE_ADDRESS, SMALL_PID, PID_ALONE)),
        ("172.17.0.2@24110", None, (BRIDGE_ADDRESS, PID_ALONE)),
        ("127.0.0.1@24110", "V4_8_0", (BRIDGE_ADDRESS, PID_ALONE)),
        ("10.20.0.24@9", "V4_8_0", (SMALL_PID, PID_ALONE)),
        ("10.20.0.24@24110", "V4_8_0", (PID_ALONE,)),
        ("10.20.0.24@24110", "V4_9_4", (EXPLICIT_NAME,)),
        ("10.20.0.24@order-sync-1", None, (EXPLICIT_NAME,)),
        ("172.17.0.1@order-sync-1", "V5_3_3", (EXPLICIT_NAME, BRIDGE_ADDRESS)),
        ("host-a@order-sync-1", "V5_3_3", (EXPLICIT_NAME,)),
        ("10.20.0.24@DEFAULT", "V5_3_3", (DEFAULT_NAME,)),
        ("172.17.0.1@9#1246464813326", "V4_9_4", ()),
        ("10.0.0.1@ns:9876@31@880", "V4_8_0", ()),
    ],
)
def test_an_id_says_how_another_process_could_come_to_it(text, version, ways):
    client = parse(text)
    assert client is not None

    assert [risk.name for risk in risks(client, version)] == [risk.name for risk in ways]


def test_a_newer_client_repairs_what_pids_cause_but_not_a_configured_name():
    assert "4.9.0" in SMALL_PID.repair
    assert "4.9.0" in PID_ALONE.repair
    assert "setClientIP" in BRIDGE_ADDRESS.repair
    assert "rocketmq.client.name" in EXPLICIT_NAME.repair
    assert "newer client does not help" in EXPLICIT_NAME.repair


@pytest.mark.parametrize(
    ("version", "nano"),
    [
        ("V4_5_1", False),
        ("4.8.0", False),
        ("V4_9_0", True),
        ("V5_3_3_SNAPSHOT", True),
        ("HIGHER_VERSION", None),
        (None, None),
    ],
)
def test_ids_hold_a_nanosecond_number_from_client_4_9_on(version, nano):
    assert adds_nano(version) == nano
