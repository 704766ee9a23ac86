"""Client ids taken apart, and how two processes come to share one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab import words
from mqlab.models.client_ids import ClientId, Risk, adds_nano, parse, risks

say = words.room("client-ids")


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
        ("172.17.0.1@9", "V4_8_0", (Risk.BRIDGE_ADDRESS, Risk.SMALL_PID, Risk.PID_ALONE)),
        ("172.17.0.2@24110", None, (Risk.BRIDGE_ADDRESS, Risk.PID_ALONE)),
        ("127.0.0.1@24110", "V4_8_0", (Risk.BRIDGE_ADDRESS, Risk.PID_ALONE)),
        ("10.20.0.24@9", "V4_8_0", (Risk.SMALL_PID, Risk.PID_ALONE)),
        ("10.20.0.24@24110", "V4_8_0", (Risk.PID_ALONE,)),
        ("10.20.0.24@24110", "V4_9_4", (Risk.EXPLICIT_NAME,)),
        ("10.20.0.24@order-sync-1", None, (Risk.EXPLICIT_NAME,)),
        ("172.17.0.1@order-sync-1", "V5_3_3", (Risk.EXPLICIT_NAME, Risk.BRIDGE_ADDRESS)),
        ("host-a@order-sync-1", "V5_3_3", (Risk.EXPLICIT_NAME,)),
        ("10.20.0.24@DEFAULT", "V5_3_3", (Risk.DEFAULT_NAME,)),
        ("172.17.0.1@9#1246464813326", "V4_9_4", ()),
        ("10.0.0.1@ns:9876@31@880", "V4_8_0", ()),
    ],
)
def test_an_id_says_how_another_process_could_come_to_it(text, version, ways):
    client = parse(text)
    assert client is not None

    assert risks(client, version) == ways


def test_a_newer_client_repairs_what_pids_cause_but_not_a_configured_name():
    assert "4.9.0" in say("repair", risk=Risk.SMALL_PID)
    assert "4.9.0" in say("repair", risk=Risk.PID_ALONE)
    assert "setClientIP" in say("repair", risk=Risk.BRIDGE_ADDRESS)
    assert "rocketmq.client.name" in say("repair", risk=Risk.EXPLICIT_NAME)
    assert "newer client does not help" in say("repair", risk=Risk.EXPLICIT_NAME)


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
