"""The configuration of HiveMQ."""

import pytest

from mqlab.formats import hivemq_conf
from mqlab.formats.base import Head
from mqlab.secrets import MASK
from mqlab.tables import SETTINGS

CONFIG = """<?xml version="1.0" encoding="UTF-8" ?>
<hivemq>
    <!-- the plant's broker -->
    <listeners>
        <tcp-listener><port>1883</port><bind-address>10.104.0.4</bind-address></tcp-listener>
    </listeners>
    <mqtt>
        <queued-messages>
            <max-queue-size> 300 </max-queue-size>
            <strategy>discard-oldest</strategy>
        </queued-messages>
    </mqtt>
    <keystore-password>swordfish</keystore-password>
</hivemq>
"""


def test_each_element_with_a_value_is_a_setting(loaded):
    assert loaded(hivemq_conf, SETTINGS, "scope origin key value", CONFIG) == [
        ("broker", "file", "port", "1883"),
        ("broker", "file", "bind-address", "10.104.0.4"),
        ("broker", "file", "max-queue-size", "300"),
        ("broker", "file", "strategy", "discard-oldest"),
        ("broker", "file", "keystore-password", MASK),
    ]


def test_markup_without_values_is_noise_and_other_text_is_not_understood(classes):
    text = "<hivemq>\n<port>1883</port>\n</hivemq>\n<!-- x -->\n\nsome words"
    assert classes(hivemq_conf, text) == ["noise", "data", "noise", "noise", "noise", None]


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (CONFIG, True),
        (CONFIG.replace("hivemq>", "configuration>"), False),
        ("the word <hivemq> in a text\n", False),
    ],
)
def test_a_document_is_recognised_by_its_outermost_element(text, known):
    assert hivemq_conf.recognise(Head("config.xml", text, len(text))) == known


def test_comments_set_nothing_and_attributes_hide_nothing(loaded, classes):
    text = """<hivemq>
<!--
    <port>1884</port>
    was closed in spring
-->
<port ref="a">
    1883
</port>
<name>a &amp; b</name>
</hivemq>"""
    assert loaded(hivemq_conf, SETTINGS, "line key value", text) == [(7, "port", "1883"), (9, "name", "a & b")]
    assert classes(hivemq_conf, text) == [*["noise"] * 6, "data", "noise", "data", "noise"]


def test_behind_a_damage_each_line_is_read_alone(loaded, classes):
    text = "<hivemq>\n<a>1</a>\n<b>2</c>\n<d>3</d><e>4</e>\n</mqtt>\nwords\n<!-- and so on"
    assert loaded(hivemq_conf, SETTINGS, "line key value", text) == [(2, "a", "1"), (4, "d", "3"), (4, "e", "4")]
    assert classes(hivemq_conf, text) == ["noise", "data", None, "data", "noise", None, "noise"]


def test_a_file_that_is_cut_gives_what_it_has(loaded):
    text = CONFIG[: CONFIG.index("discard")]
    assert [row[0] for row in loaded(hivemq_conf, SETTINGS, "key", text)] == ["port", "bind-address", "max-queue-size"]


def test_no_entity_is_ever_resolved(loaded):
    text = """<?xml version="1.0"?>
<!DOCTYPE hivemq [
<!ENTITY own "swordfish">
<!ENTITY file SYSTEM "file:///etc/passwd">
]>
<hivemq>
<a>&own;</a><b>&file;</b>
<port>1883</port>
</hivemq>"""
    assert loaded(hivemq_conf, SETTINGS, "line key value", text) == [(8, "port", "1883")]
