"""The configuration of HiveMQ."""

import pytest

from mqlab.loaders import LOADERS, hivemq_conf
from mqlab.material.recognition import recognise
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
    ("text", "form"),
    [
        (CONFIG, "hivemq-conf"),
        (CONFIG.replace("hivemq>", "configuration>"), "unrecognised"),
        ("the word <hivemq> in a text\n", "unrecognised"),
    ],
)
def test_a_document_is_recognised_by_its_outermost_element(text, form):
    assert recognise(text.encode(), "config.xml", len(text), LOADERS).format == form
