"""Whom a file is about, by its name."""

import pytest

from mqlab.shared.actors import base_name


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("clients/bridge.log.1", "bridge"),
        ("docker/pricer-2_4.6.1-json.log", "pricer-2"),
        ("app-v1.2.3.out", "app"),
        ("kafka-10.0.0.12.log", "kafka-10"),
        ("-", "stdin"),
    ],
)
def test_a_file_is_named_up_to_its_first_dot_or_version(source, name):
    assert base_name(source) == name
