"""What docs/capture.md promises."""

import re
from pathlib import Path

from mqlab.gather.kafka import ACLS
from mqlab.gather.sources import _OPTIONS, sources

TEXT = (Path(__file__).parents[2] / "docs/capture.md").read_text()


def test_the_rights_that_are_printed_are_those_that_are_needed():
    printed = re.findall(r"--operation (\w+) --(topic|group|cluster)(?: '(.+)')?", TEXT)
    assert [(kind, name or "kafka-cluster", operation) for operation, kind, name in printed] == list(ACLS)


def test_every_option_is_told_of():
    def command():
        """Nothing."""

    assert len(sources(command).__click_params__) == len(_OPTIONS)
    missing = {one.opts[-1] for one in command.__click_params__ if one.opts[-1] not in TEXT}
    assert missing == {"--output", "--step"}
