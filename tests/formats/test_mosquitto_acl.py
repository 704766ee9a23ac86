"""Access lists of mosquitto: rules under the user that they hold for."""

import pytest

from mqlab.formats import mosquitto_acl
from mqlab.formats.base import Head
from mqlab.tables import SETTINGS

ACL = """
# everybody without a name
topic read news/#

user plant historian
topic site/#
topic write site/a b/status
\ttopic deny $SYS/#
pattern readwrite clients/%c/#
pattern presence/%u
user <b>'x'
topic   readwrite   a/+/b
"""


def test_each_rule_is_a_setting_of_its_user_in_the_order_of_the_file(loaded):
    assert loaded(mosquitto_acl, SETTINGS, "line owner key value", ACL) == [
        (2, None, "read", "news/#"),
        (5, "plant historian", "readwrite", "site/#"),
        (6, "plant historian", "write", "site/a b/status"),
        (7, "plant historian", "deny", "$SYS/#"),
        (8, None, "pattern-readwrite", "clients/%c/#"),
        (9, None, "pattern-readwrite", "presence/%u"),
        (11, "<b>'x'", "readwrite", "a/+/b"),
    ]
    assert set(loaded(mosquitto_acl, SETTINGS, "scope origin at", ACL)) == {("acl", "file", None)}


def test_comments_are_noise_and_a_rule_with_another_word_is_not_understood(classes):
    text = "# x\nuser a\ntopic read a/b\ntopic sensors/# both 0\n"
    assert classes(mosquitto_acl, text) == ["noise", "data", "data", None, "noise"]


def test_it_is_recognised_by_its_rules():
    assert mosquitto_acl.recognise(Head("acl", ACL, len(ACL)))


@pytest.mark.parametrize(
    "text",
    ["", "# x\n", "user a\n", "topic sensors/# both 0\n", "topic read a\nlistener 1883\n", "topic orders\nx y z\n"],
)
def test_other_files_are_not(text):
    assert not mosquitto_acl.recognise(Head("acl", text, len(text)))
