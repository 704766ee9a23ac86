"""Words that a regex cannot do without."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mqlab.factors import factors
from mqlab.formats.signatures import SIGNATURES

PATTERNS = sorted({p for s in SIGNATURES for p in (s.begins, s.contains, s.also) if factors(p)})


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"Group .+ generation \d+ is (?:now empty|dead and removed)", {" is now empty", " is dead and removed"}),
        (r"(?:Re-)?[Jj]oining group", {"Joining group", "joining group"}),
        (r"^stopp(?:ed|ing)$", {"stopped", "stopping"}),
        (r"(?:exited|gave up): \S+ \((?:status \d+|signal)\)", {"exited: ", "gave up: "}),
        (r"(?:\d+ms: )+slow", {"slow"}),
        (r"(?:late )*poll", {"poll"}),
        (r"(?P<who>Group|Member) .+(?: of (?P<of>\S+))? left", {"Group ", "Member "}),
        (r"(?i:poll) timeout", {" timeout"}),
        (r"\d+|poll", set()),
        (r"(?:poll)?", set()),
    ],
)
def test_the_place_whose_shortest_word_is_longest_gives_the_words(pattern, words):
    assert factors(pattern) == words


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_text_that_a_signature_fits_holds_one_of_its_words(pattern):
    words = factors(pattern)

    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.from_regex(re.compile(pattern, re.ASCII)))
    def holds(text):
        assert any(word in text for word in words)

    holds()


def test_every_signature_that_holds_in_all_logs_has_words():
    assert [s.kind for s in SIGNATURES if not s.only and not factors(s.begins or s.contains)] == []


@pytest.mark.parametrize("signature", [s for s in SIGNATURES if s.rare], ids=lambda s: s.kind)
def test_every_text_that_a_signature_fits_holds_its_rare_part(signature):
    @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.from_regex(re.compile(signature.begins or signature.contains, re.ASCII)))
    def holds(text):
        assert re.search(signature.rare, text, re.ASCII)

    assert factors(signature.rare)
    holds()
