"""What comes with the package is found by its name."""

import pytest

from mqlab import bundled


def test_a_name_is_that_of_a_sample_unless_such_a_path_is_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert bundled.sample_or_path("kafka-amp-05") == str(bundled.samples() / "kafka-amp-05")

    (tmp_path / "kafka-amp-05").mkdir()
    assert bundled.sample_or_path("kafka-amp-05") == "kafka-amp-05"


@pytest.mark.parametrize(
    "text", ["", "-", ".", "..", "kafka-amp-0", "kafka-*", "kafka-amp-05/logs", "s3://a/b", "x" * 999]
)
def test_anything_else_stays_what_it_is(text):
    assert bundled.sample_or_path(text) == text
