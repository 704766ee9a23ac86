"""Damaged samples: no exception, nobody else is blamed, none is called healthy; ``make fuzz`` tries many more."""

import pytest
from mutations import KINDS, Answer, Sample

from mqlab.diagnosis import Withdrawn

OFTEN = 2 * len(KINDS)
TAKEN_BACK = Withdrawn("parts", "retention-loss:orders", "lost_records", "3 of 2")


@pytest.fixture(scope="module", params=["mqtt-acl-01", "kafka-amp-13"])
def sample(request, tmp_path_factory):
    return Sample(request.param, tmp_path_factory.mktemp("mutations"))


def test_of_a_damaged_sample_nothing_wrong_is_said(sample):
    drawn = [sample.mutation(1, number)[1] for number in range(OFTEN)]

    assert sum(any(content != sample.files[name] for name, content in changed.items()) for changed in drawn) > len(
        KINDS
    )
    assert [list(sample.violations(changed)) for changed in drawn] == [[]] * OFTEN


def test_a_mutation_is_drawn_again_by_its_number(sample):
    assert sample.mutation(7, 3) == sample.mutation(7, 3) != sample.mutation(8, 3)


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (Answer(frozenset({"slow-consumer"}), frozenset(), "slow-consumer"), "flipped"),
        (Answer(frozenset(), frozenset(), "healthy"), "calm"),
        (Answer(frozenset(), frozenset(), "undetermined", (TAKEN_BACK,)), "withdrawn by parts"),
        (KeyError("x"), "exception"),
    ],
)
def test_what_must_not_be_said_is_a_violation(sample, monkeypatch, answer, rule):
    def said(_):
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(sample, "said", said)
    assert rule in [violation.rule for violation in sample.violations({})]
