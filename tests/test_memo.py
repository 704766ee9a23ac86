"""Answers about Facts that are worked out once."""

from __future__ import annotations

import gc
import weakref

from facts_builder import facts

from mqlab.memo import per_facts


def test_an_answer_is_worked_out_once_for_each_facts_and_argument():
    asked = []

    @per_facts
    def answer(_facts, name):
        asked.append(name)
        return len(asked)

    one, other = facts(), facts()
    assert [answer(one, "a"), answer(one, "a"), answer(one, "b"), answer(other, "a")] == [1, 1, 2, 3]
    assert asked == ["a", "b", "a"]


def test_answers_keep_no_facts_alive():
    @per_facts
    def answer(facts):
        return len(facts.episodes)

    known = facts()
    answer(known)
    seen = weakref.ref(known)
    del known
    gc.collect()
    assert seen() is None
