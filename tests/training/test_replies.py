"""What is said to an answer: it says what contradicts it, and gives away nothing that is asked for later."""

import gzip
import re
import tomllib
from itertools import islice
from pathlib import Path

import pytest
from training_set import NUMBERS, ROOT, SECTIONS, exercise, incident, key

from mqlab.catalogue import INCIDENTS

NAMES = sorted(NUMBERS)
GIVEAWAYS = tomllib.loads((Path(__file__).parent / "giveaways.toml").read_text())
LINES = re.compile(r"(?P<file>[\w./-]+\.[\w.]*\w),? \(?lines? (?P<lines>\d+(?:(?:, | and )\d+(?!\d*:))*)")
"""A file and lines of it, as replies name them."""


def because(section):
    """What is said to each answer of a section: wrong, partly right, right."""
    wrong = section.get("wrong", {})
    found = dict(wrong) if isinstance(wrong, dict) else {one[next(iter(one))]: one["because"] for one in wrong}
    right = section.get("because") or section.get("right", {}).get("because", "")
    return found | section.get("partial", {}) | {"the right one": right}


def said(name, *sections):
    """(section, answer, what is said to it)."""
    return [(s, answer, text) for s in sections for answer, text in because(key(name).get(s, {})).items()]


def before_the_mechanism(name):
    """All that may be read before it is known; the right answer to where a healthy one starts tells it itself."""
    mechanism = [one for one in said(name, "mechanism") if one[1] != "the right one"]
    earlier = said(name, "starts_in", "since", "who")
    healthy = incident(name) == "healthy"
    return [one for one in earlier if not (healthy and one[:2] == ("starts_in", "the right one"))] + mechanism


def numbers(text):
    return [float(found.replace(",", "")) for found in re.findall(r"(?<![\w.:-])\d[\d,]*(?:\.\d+)?(?![\w:-])", text)]


@pytest.mark.parametrize("name", NAMES)
def test_no_reply_names_the_class_or_its_mechanism_before_it_is_found(name):
    slug = incident(name)
    title = INCIDENTS[slug].title if slug in INCIDENTS else slug
    named = [re.escape(text) for text in (slug, title) if slug != "healthy"]

    assert [
        (section, answer, pattern)
        for section, answer, text in before_the_mechanism(name)
        for pattern in (*named, *GIVEAWAYS[slug])
        if re.search(pattern, text, re.IGNORECASE)
    ] == []


@pytest.mark.parametrize("slug", sorted({incident(name) for name in NAMES} - {"healthy"}))
def test_what_would_name_a_mechanism_is_what_its_right_answer_says(slug):
    texts = [key(name)["mechanism"]["because"] for name in NAMES if incident(name) == slug]

    assert [text for text in texts if not any(re.search(one, text, re.IGNORECASE) for one in GIVEAWAYS[slug])] == []


@pytest.mark.parametrize(
    "name", [name for name in NAMES if "amount" in key(name) and key(name)["amount"]["value"] >= 10]
)
def test_no_reply_has_the_number_that_is_asked_for_later(name):
    value = key(name)["amount"]["value"]
    line = key(name).get("line", {})
    lines = [("line", one["file"], one["because"]) for one in [*line.get("proof", ()), *line.get("near", ())]]

    assert [
        one
        for one in [*said(name, "starts_in", "since", "who", "mechanism"), *lines]
        if any(abs(number - value) <= value / 200 for number in numbers(one[2]))
    ] == []


@pytest.mark.parametrize("name", [name for name in NAMES if "who" in key(name)])
def test_no_reply_names_who_it_was_before_that_is_asked(name):
    pattern = rf"(?<![\w-]){re.escape(key(name)['who']['right'])}(?![\w-])"
    told = re.search(pattern, key(name)["story"])

    assert [one for one in said(name, "starts_in", "since") if re.search(pattern, one[2]) and not told] == []


@pytest.mark.parametrize("name", [name for name in NAMES if "since" in key(name)])
def test_no_reply_has_the_moment_before_it_is_asked_for(name):
    at, story = key(name)["since"]["at"][11:19], key(name)["story"]

    assert [one for one in said(name, "starts_in") if at in one[2] and at not in story] == []


@pytest.mark.parametrize("name", [name for name in NAMES if "line" in key(name)])
def test_each_line_that_a_reply_or_a_hint_names_is_accepted_as_proof(name):
    hints = [hint for section in SECTIONS for hint in key(name).get(section, {}).get("hints", ())]
    texts = [text for *_, text in said(name, *SECTIONS)] + hints + [p["because"] for p in key(name)["line"]["proof"]]
    files = exercise(name).files

    assert [
        (file, number)
        for text in texts
        for found in LINES.finditer(text)
        for file in files
        for number in map(int, re.findall(r"\d+", found["lines"]))
        if f"/{file}".endswith(f"/{found['file']}") and not proves(name, file, number)
    ] == []


def proves(name, file, number):
    """The line is one of the proofs of a key."""
    path = ROOT / "data" / "samples" / name / file
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8", newline="\n") as lines:
        text = next(islice(lines, number - 1, None))
    proofs = [one for one in key(name)["line"]["proof"] if one["file"] == file]
    return any(one["line"] == number if "line" in one else one.get("contains", "") in text for one in proofs)
