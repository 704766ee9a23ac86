"""The report: one page that opens offline, says what was found, and runs nothing that came with the material."""

import json
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from types import SimpleNamespace

import nbformat
import pytest
from audit_builder import FAILOVER
from facts_builder import facts as rows_of
from facts_builder import positions
from kafka_builder import coordinator
from mqtt_builder import broker
from report_example import diagnosis, example, facts, oversize, split_loop

from mqlab.bundled import notebooks
from mqlab.catalogue import INCIDENTS
from mqlab.diagnosis import Rejected
from mqlab.errors import CannotWriteError
from mqlab.facts import Facts, Series
from mqlab.figures.style import plotly_script
from mqlab.findings import Certainty, Evidence, Severity
from mqlab.notes import IncidentNotes
from mqlab.report import html, render
from mqlab.reporting import sections as reporting_sections
from mqlab.reporting.sections import (
    Arranged,
    Section,
    arranged,
    as_figure,
    clean_html,
    family_tag,
    fitting,
    literal,
    markdown,
    sections_of,
)
from mqlab.reporting.view import view

HOSTILE = "<script>alert(1)</script>"


class Page(HTMLParser):
    """Collects what a browser would act upon."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.ids, self.links, self.headings, self.loads, self.handlers = [], [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        self.handlers += [name for name in known if name.startswith("on")]
        self.ids += [known["id"]] if "id" in known else []
        self.links += [known["href"]] if tag == "a" and "href" in known else []
        self.loads += [value for name, value in attrs if name in ("src", "srcset", "action", "data")]
        self.headings += [int(tag[1])] if re.fullmatch(r"h[1-6]", tag) else []
        self.scripts += [known.get("type", "text/javascript")] if tag == "script" else []


def told(known=None, result=None, notes=None):
    own_facts, own_diagnosis = example()
    return SimpleNamespace(
        facts=own_facts if known is None else known,
        diagnosis=result or own_diagnosis,
        notes=notes or IncidentNotes(),
        paths=("kafka-amp-17",),
    )


def without_library(page):
    """The page but for plotly.js itself."""
    return max(re.split(r"<script>|</script>", page), key=len), re.sub(
        r"<script>.{100000,}?</script>", "", page, flags=re.S
    )


CASES = {
    "found": (None, None),
    "undetermined": (None, diagnosis(incident="undetermined")),
    "healthy": (None, replace(diagnosis(), symptoms=())),
    "no metrics": (replace(facts(), series=()), None),
    "nothing at all": (Facts(), replace(diagnosis(), symptoms=())),
    "benign": (None, diagnosis(replace(oversize(), incident="fan-out", severity=Severity.NOTICE))),
    "no ledger": (None, diagnosis(replace(split_loop(), ledger=None, measures={"orphan_queues": 8}))),
    "no measures": (None, diagnosis(replace(split_loop(), ledger=None, measures={}, evidence=(), started_at=None))),
}


@pytest.mark.parametrize("case", CASES)
def test_every_kind_of_verdict_has_a_page_with_sound_structure(case):
    page = Page(html(told(*CASES[case])))

    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in zip(page.headings, page.headings[1:], strict=False))
    assert len(page.ids) == len(set(page.ids))
    assert [link for link in page.links if link.startswith("#") and link[1:] not in page.ids] == []


@pytest.mark.parametrize("case", CASES)
def test_every_kind_of_verdict_has_up_to_four_tiles(case):
    known, result = CASES[case]
    capture = told(known, result)

    assert 1 <= len(view(capture.facts, capture.diagnosis, capture.notes).tiles) <= 4


def test_the_first_screen_says_what_the_diagnosis_says():
    shown = view(*example(), IncidentNotes())

    assert shown.band == ("batch-split-loop", "PROVEN", "ended 12:23:16 UTC", "still open: 1")
    assert [(tile.value, tile.title, tile.note) for tile in shown.tiles] == [
        ("3", "messages lost", ""),
        ("658 MB", "of excess traffic", "of 763 MB sent"),
        ("2", "process exits", ""),
        ("153 s", "from first to last sign", "until 12:23:16 UTC"),
    ]
    assert [(bar.share, bar.left, bar.width, bar.hatched) for bar in shown.bars] == [
        ("6.8 %", 0.0, 6.73, False), ("91.3 %", 6.73, 90.08, False), ("3.2 %", 96.82, 3.18, False),
        ("-1.3 %", 98.67, 1.33, True),
    ]  # fmt: skip


def test_a_benign_finding_in_healthy_material_does_not_take_the_headline():
    notice = replace(oversize(), incident="rolling-restart", severity=Severity.NOTICE)
    shown = view(facts(), replace(diagnosis(notice, incident="healthy"), symptoms=()), IncidentNotes())

    assert (shown.band, shown.subject, shown.tone) == (("healthy",), "", "calm")


def test_loss_is_not_checked_where_nothing_counted_it():
    tile = view(facts(), diagnosis(split_loop()), IncidentNotes()).tiles[3]

    assert (tile.value, tile.muted) == ("NOT CHECKED", True)


def test_every_measure_leads_to_a_line():
    text = html(told())

    assert 'href="#F1-excess_bytes"' in text
    assert re.search(r'<tr id="F1-split_count">.*?href="#F1-e1".*?clients/bridge.log:83', text, re.S)
    assert re.search(
        r'<li id="F1-e1"><code>clients/bridge.log:83</code>.*?<pre>2026-11-21 12:20:44,201 WARN', text, re.S
    )


def test_the_page_loads_nothing_and_fits_in_eight_megabytes():
    text = html(told())
    library, rest = without_library(text)

    assert Page(rest).loads == []
    assert "@import" not in rest
    assert [link for link in Page(rest).links if not link.startswith("#")] == []
    assert text.count(library) == 1
    assert len(text.encode()) < 8_000_000


def test_a_week_of_samples_still_fits():
    known = facts()
    start = known.series[0].points[0][0]
    week = tuple((start + 15.0 * n, 1e6 * n) for n in range(40_000))
    marks = tuple(
        replace(e, first_at=start + 60.0 * n, last_at=start + 60.0 * n) for n in range(500) for e in known.episodes
    )
    large = replace(known, series=tuple(replace(s, points=week) for s in known.series), episodes=marks)

    assert len(html(told(large)).encode()) < 6_000_000


def test_only_the_two_scripts_of_the_package_may_run():
    text = html(told())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)

    assert Page(without_library(text)[1]).scripts.count("text/javascript") == 1
    assert "default-src 'none'" in policy
    assert policy.count("sha256-") == 2
    assert "script-src 'unsafe-inline'" not in policy


def hostile_capture():
    place = Evidence(f"logs/{HOSTILE}.log", 1, f"topic {HOSTILE} \u2028 </pre></li>", HOSTILE, f'{{topic="{HOSTILE}"}}')
    finding = replace(
        split_loop(), id=f"batch-split-loop:{HOSTILE}", subject=HOSTILE, statement=f"Topic {HOSTILE}.",
        evidence=(place,), mitigate=HOSTILE, remedy=HOSTILE, verify=HOSTILE, facts={HOSTILE: HOSTILE},
        ledger=replace(split_loop().ledger, host=HOSTILE, how=HOSTILE, gaps=(HOSTILE,)),
    )  # fmt: skip
    known = facts()
    series = tuple(replace(s, labels={**s.labels, "instance": f"{HOSTILE}:1"}) for s in known.series)
    episodes = tuple(replace(e, client_id=HOSTILE, topic=HOSTILE) for e in known.episodes)
    positions = tuple(replace(p, group="</script><img src=x onerror=alert(1)>") for p in known.positions)
    result = replace(diagnosis(finding), rejected=(Rejected("fan-out", HOSTILE),), gaps=(HOSTILE,))
    return told(
        replace(known, series=series, episodes=episodes, positions=positions), result, IncidentNotes(title=HOSTILE)
    )


def test_mark_up_in_the_material_shows_as_text():
    sections = [Section(HOSTILE, [literal(HOSTILE), markdown(HOSTILE)], shows=True)]
    rest = without_library(html(hostile_capture(), sections, {"paths": [HOSTILE]}))[1]
    page = Page(rest)

    assert HOSTILE not in rest
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in rest
    assert page.handlers == []
    assert page.loads == []
    assert page.scripts.count("text/javascript") == 1


def test_json_of_a_figure_cannot_end_its_script():
    figure = as_figure({"data": [{"name": "</script>\u2028&", "x": [1], "y": [2]}], "layout": {}})

    assert not re.search("[<>&\u2028]", figure.json)
    assert json.loads(figure.json)["data"][0]["name"] == "</script>\u2028&"


@pytest.mark.parametrize(
    "live",
    [
        "<img src=x onerror=alert(1)>",
        '<a href="javascript:alert(1)">x</a>',
        "<svg onload=alert(1)></svg>",
        "<iframe src='https://example.org'></iframe>",
        "<style>body{display:none}</style>",
        "<form action='https://example.org'><input></form>",
        HOSTILE,
    ],
)
def test_html_of_a_notebook_is_cleaned(live):
    page = Page(clean_html(f"<p>before</p>{live}").html)

    assert (page.scripts, page.handlers, page.loads) == ([], [], [])
    assert [link for link in page.links if link.startswith("javascript")] == []


def test_sections_are_cut_at_second_level_headings_and_know_whether_they_show_anything():
    table = {"output_type": "execute_result", "data": {"text/html": "<table><tr><td>1</td></tr></table>"}}
    header = {"output_type": "execute_result", "data": {"text/html": "<table><tr><th>a</th></tr></table>"}}
    blank = {"output_type": "display_data", "data": {"application/vnd.plotly.v1+json": {"data": [], "layout": {}}}}
    notebook = SimpleNamespace(
        cells=[
            SimpleNamespace(cell_type="markdown", source="# Title\n\nIntro", metadata={}),
            SimpleNamespace(cell_type="markdown", source="## Kept?\n\nYes.", metadata={}),
            FakeCode([table], ()),
            SimpleNamespace(cell_type="markdown", source="## Hidden?", metadata={}),
            FakeCode([table], ("hide",)),
            SimpleNamespace(cell_type="markdown", source="## Nothing to show?\n\nPerhaps.", metadata={}),
            FakeCode([header, blank], ()),
        ]
    )

    sections = sections_of(notebook)

    assert [(section.title, section.shows) for section in sections] == [
        ("Kept?", True), ("Hidden?", False), ("Nothing to show?", False),
    ]  # fmt: skip
    assert "<td>1</td>" in sections[0].blocks[1].html


class FakeCode(dict):
    """A code cell as nbformat has it: a dict with attributes."""

    cell_type = "code"

    def __init__(self, outputs, tags):
        super().__init__(outputs=outputs)
        self.metadata = {"tags": list(tags)}


def test_the_traffic_notebook_runs_only_for_traffic():
    other = replace(split_loop(), incident="rebalance-storm")
    risk = replace(split_loop(), certainty=Certainty.POSSIBLE)

    assert fitting(diagnosis(split_loop()), Facts()) == ("00_triage", "01_traffic_amplification")
    assert fitting(diagnosis(other), Facts()) == ("00_triage",)
    assert fitting(diagnosis(risk), Facts()) == ("00_triage",)


def test_the_notebook_about_queues_runs_wherever_the_material_is_of_rocketmq():
    lag = Series("rocketmq.lag", "rocketmq_lag", {}, "m.json", ((0.0, 1.0),))
    assert fitting(diagnosis(), Facts(series=(lag,))) == ("00_triage", "02_duplicate_client_ids")
    assert fitting(diagnosis(), Facts()) == ("00_triage",)


@pytest.mark.parametrize(
    "rows",
    [
        positions("""
            at     group    topic     queue  committed  end
            10:00  billing  invoices  0      5          9
        """),
        coordinator("10:00:00 preparing 0 need to join"),
    ],
    ids=["positions", "a coordinator's line"],
)
def test_the_notebook_about_rebalances_runs_wherever_the_material_tells_of_a_group(rows):
    assert fitting(diagnosis(), rows_of(rows)) == ("00_triage", "03_rebalance_timeouts")


def test_the_notebook_about_delivery_runs_wherever_a_topic_can_be_audited(monkeypatch):
    monkeypatch.setattr(reporting_sections, "audits", lambda _: (FAILOVER,))
    assert fitting(diagnosis(), Facts()) == ("00_triage", "04_delivery_audit")


TRAFFIC_SECTION = Section("Where from?", [literal("bytes")], shows=True, serves=("traffic-amplification",))
LOSS_SECTION = Section("Lost?", [literal("none")], shows=True, serves=("delivery-loss-and-duplication",))


def test_sections_about_what_was_found_come_first_and_all_others_are_folded_or_named():
    plain = Section("Of no class?", [literal("x")], shows=True)
    notebook = Section("Told elsewhere?", [literal("x")], shows=True, serves=("notebook",))
    silent = Section("Silent?", serves=("traffic-amplification",))

    lost = replace(split_loop(), incident="unclean-election-loss")
    sections = [LOSS_SECTION, plain, notebook, silent, TRAFFIC_SECTION]
    told = arranged(sections, diagnosis(split_loop()))

    assert told == Arranged((TRAFFIC_SECTION, plain), (LOSS_SECTION,), ("Silent?",))
    assert arranged(sections, diagnosis(lost, split_loop())).own == (LOSS_SECTION, TRAFFIC_SECTION, plain)


def test_sections_of_undetermined_material_are_those_of_its_hypotheses():
    weighed = replace(diagnosis(incident="undetermined"))
    verdict = replace(weighed.verdict, hypotheses=(SimpleNamespace(incident="retention-loss"),))

    assert arranged([TRAFFIC_SECTION, LOSS_SECTION], replace(weighed, verdict=verdict)).own == (LOSS_SECTION,)


def test_every_section_of_a_notebook_says_which_classes_it_serves():
    known = {*INCIDENTS, *map(family_tag, INCIDENTS), "undetermined", "notebook"}
    for file in sorted(notebooks().glob("0[0-5]_*.ipynb")):
        for section in sections_of(nbformat.read(file, 4)):
            assert section.serves, (file.name, section.title)
            assert set(section.serves) <= known, (file.name, section.title)


def test_what_is_folded_says_what_it_holds_and_a_link_into_it_keeps_its_place():
    text = html(told(), [TRAFFIC_SECTION, LOSS_SECTION])

    assert "Also checked, nothing to see" in text
    assert re.search(r'<details class="section" id="q1" open><summary><h3>Where from\?</h3>', text)
    assert re.search(r'<details class="section" id="not-checked"><summary>.*?clear: 3, not checked: 1', text)


@dataclass
class FakeOptions:
    """Stands for the options of the command line."""

    since: float | None = None
    plugins: tuple[str, ...] = ()


def test_what_a_terminal_obeys_is_in_no_page_and_not_in_the_library_whose_hash_is_told(tmp_path):
    named = told(result=replace(diagnosis(), gaps=("\x1b[2J\x1b]0;owned\x07.log could not be read",)))
    named.options = FakeOptions()
    page = render(named, tmp_path / "report.html", notebooks=()).read_text(encoding="utf-8")

    assert "�[2J�]0;owned�.log" in page
    assert not set("\a\b\x1b\x7f\x9b") & {*page, *plotly_script()}


def test_the_json_lies_beside_the_page(tmp_path):
    capture = told()
    capture.options = FakeOptions()

    written = render(capture, tmp_path / "out" / "report.html", notebooks=())

    assert written.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert (
        json.loads((tmp_path / "out" / "report.findings.json").read_text())["verdict"]["incident"] == "batch-split-loop"
    )


def test_the_notebook_about_mqtt_runs_wherever_a_client_connected():
    rows = rows_of(broker("10:00:00 pump connected 10.0.0.7:1001 k30 c1"))
    assert fitting(diagnosis(), rows) == ("00_triage", "05_mqtt_sessions")


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        (
            {"x": ["10:00", "10:01"], "y": [1.0, 3.0], "text": ["1 B", "3 B"]},
            "out: from 10:00 to 10:01, highest 3 B at 10:01.",
        ),
        ({"x": ["10:00", "10:01"], "y": ["lane", "lane"]}, "out: 2 marks from 10:00 to 10:01."),
        ({"x": [7, 2], "y": ["sent", "lost"]}, "out: sent 7, lost 2."),
        ({"x": [], "y": []}, ""),
    ],
)  # fmt: skip
def test_a_figure_says_what_it_shows_to_those_who_do_not_see_it(trace, said):
    assert as_figure({"data": [{"name": "out", **trace}], "layout": {}}).spoken == said


def test_a_report_that_cannot_be_written_says_so_in_one_sentence(tmp_path):
    capture = told()
    capture.options = FakeOptions()
    (tmp_path / "taken").touch()

    with pytest.raises(CannotWriteError, match=r"taken/report\.html cannot be written: (File exists|Not a directory)"):
        render(capture, tmp_path / "taken" / "report.html", notebooks=())


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs a browser")
def test_a_browser_draws_what_is_open_and_a_link_into_a_fold_opens_it(tmp_path):
    page = tmp_path / "report.html"
    page.write_text(html(told(), [TRAFFIC_SECTION, LOSS_SECTION]), encoding="utf-8")
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/profile",
               "--virtual-time-budget=1000", "--dump-dom", f"{page.as_uri()}#F2-e1"]  # fmt: skip

    drawn = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout

    assert re.search(r'<details class="section" id="F2" open="">', drawn)
    assert re.search(r'<details class="section" id="changes">', drawn)
    assert 'class="chart js-plotly-plot"' in drawn
