"""The course: pages that stand on their own, figures that show what the simulators say, notebooks beside them."""

import ast
import json
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from shutil import which

import jupytext
import papermill
import pytest
from papermill.engines import papermill_engines
from playwright.sync_api import sync_playwright

from mqlab.models.group_simulation import simulate
from mqlab.models.lag import time_lag
from mqlab.models.mqtt import Strategy, diverted
from mqlab.models.polling import poll_seconds
from mqlab.models.queue_allocation import allocate
from mqlab.models.splitting import outcome
from mqlab.reporting import running
from mqlab.reporting.sections import script_hash
from mqlab.training import course
from mqlab.training.course import chains, delivery, groups, lag, rebalances, sessions, traffic
from mqlab.training.course.moving import words

ROOT = Path(__file__).parents[2]
SLUGS = [chapter.slug for chapter in course.CHAPTERS]
NOTEBOOKS = {slug: ROOT / f"notebooks/training/course_{place}_{slug}" for place, slug in enumerate(SLUGS, 1)}

CHROMIUM = which("chromium") or which("chromium-browser") or which("google-chrome")
HEADINGS = ("What you see", "What looks alike", "What to ask, in this order", "Settings that matter")


@cache
def figure(slug):
    return next(chapter for chapter in course.CHAPTERS if chapter.slug == slug).figure()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The course as it is written."""
    written = tmp_path_factory.mktemp("course")
    course.write(written)
    return written


class Reader(HTMLParser):
    """What a page refers to, and its scripts."""

    def __init__(self, html):
        super().__init__()
        self.addresses, self.scripts, self.others = [], [], []
        self._script = None
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.addresses += [given[name] for name in ("href", "src", "action", "data") if name in given]
        self.others += [name for name in given if name.startswith("on")]
        self._script = given if tag == "script" else None

    def handle_data(self, data):
        if self._script is not None:
            self.scripts.append((self._script.get("type"), data))

    def handle_endtag(self, _tag):
        self._script = None


def drawn(chart, value):
    """The traces of one step."""
    return next(frame for frame in chart.frames if frame.name == value).data


def test_the_chapters_stand_in_the_order_in_which_they_build_on_each_other():
    assert SLUGS == ["lag", "groups", "rebalances", "delivery", "traffic", "sessions", "chains"]


def test_a_folder_holds_an_index_all_pages_and_the_library_once(folder):
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["index.html", "plotly.js", *(f"{slug}.html" for slug in SLUGS)]
    )


@pytest.mark.parametrize("name", ["index", *SLUGS])
def test_a_page_refers_to_nothing_outside_its_folder(folder, name):
    page = Reader((folder / f"{name}.html").read_text(encoding="utf-8"))

    assert [each for each in page.addresses if not (folder / each).exists()] == []


@pytest.mark.parametrize("slug", SLUGS)
def test_a_page_runs_nothing_but_the_figure(folder, slug):
    html = (folder / f"{slug}.html").read_text(encoding="utf-8")
    page = Reader(html)
    code = [text for kind, text in page.scripts if kind is None]

    assert page.others == []
    assert len(code) == 1
    assert "Plotly.newPlot" in code[0]
    assert script_hash(code[0]).strip("'") in html


@pytest.mark.parametrize("slug", SLUGS)
def test_a_page_says_in_words_what_its_figure_shows(folder, slug):
    html = (folder / f"{slug}.html").read_text(encoding="utf-8")
    chart = figure(slug)

    assert len(words(chart)) == len(chart.frames) >= 4
    assert all(f"<dd>{sentence}</dd>" in html for _, sentence in words(chart))


@pytest.mark.parametrize("slug", SLUGS)
def test_a_text_explains_before_the_figure_and_asks_after_it(slug):
    before, after = course.reading(slug)
    prose = re.sub(r"```.*?```", "", before + after, flags=re.DOTALL)

    assert 400 <= len(re.findall(r"[A-Za-z][\w'-]*", prose)) <= 900
    assert "```" in before
    assert [heading for heading in HEADINGS if f"## {heading}" not in before + after] == []


def test_a_longer_title_has_room_on_a_telephone():
    lines = [line for slug in SLUGS for frame in figure(slug).frames for line in frame.layout.title.text.split("<br>")]

    assert max(map(len, lines)) <= 44


def test_the_backlog_drains_as_the_model_says():
    chart = figure("lag")
    records, age = drawn(chart, "1,500")
    last = lag.backlog(1_500).times.index(20 * 60)

    assert records.y[last] == 600_000 - 500 * 10 * 60
    assert age.y[last] * 60 == time_lag([(0, 0), (1_200, 1_200_000)], 900_000, 1_200).likely
    assert "20.0 min" in dict(words(chart))["1,500"]
    assert "for ever" in dict(words(chart))["1,000"]


@pytest.mark.parametrize("sharing", groups.SHARING)
def test_the_map_of_queues_is_what_each_client_computes(sharing):
    clients = groups.ids(4, sharing)
    queues = [("orders", "broker-a", number) for number in range(8)]
    (found,) = drawn(figure("groups"), str(sharing))
    mine = [[queue in allocate("AVG", client, queues, sorted(clients)) for queue in queues] for client in clients]

    assert [[bool(cell) for cell in row] for row in found.z[:-1]] == mine
    assert [bool(cell) for cell in found.z[-1]] == [not any(owners) for owners in zip(*mine, strict=True)]


@pytest.mark.parametrize("most", [350, 500])
def test_the_group_is_the_one_of_the_simulator(most):
    chart = figure("rebalances")
    poll, lags, begun = drawn(chart, f"{most}")
    planned = rebalances.course(most)

    assert poll.x[0] * 60 == pytest.approx(poll_seconds(most, 0.8))
    assert lags.y[29] == simulate(replace(planned, until=3_600)).final_lag
    assert [round(at * 60, 6) for at in begun.x] == [one.at for one in simulate(planned).rebalances]
    assert bool(begun.x) == (most == 500)


def test_what_acks_one_loses_is_what_the_follower_had_not_fetched():
    broker_2, broker_1, high, lost = drawn(figure("delivery"), "15 s")
    dies = broker_1.x.index(60)

    assert broker_1.y[dies] - broker_2.y[dies] == lost.y[1] - lost.y[0] == 1_500
    assert high.y[dies] == broker_2.y[dies]
    assert broker_2.y[-1] == 4_500 + 100 * 30


def test_a_follower_out_of_sync_does_not_take_over():
    broker_2, _, high, lost = drawn(figure("delivery"), "50 s")

    assert broker_2.y[-1] == 1_000
    assert high.y[-1] == 6_000
    assert lost.y[0] == lost.y[1]


@pytest.mark.parametrize("batch", [16_384, 1_638_400])
def test_the_bytes_that_leave_are_those_of_the_model(batch):
    came, left = drawn(figure("traffic"), f"{batch:,}")
    last = outcome(traffic.producer(batch), traffic.LINK, traffic.MESSAGES, left.x[-1])

    assert set(came.y) == {6_000_000}
    assert left.y[-1] == last.bytes_out
    assert (left.y[-1] > 100 * came.y[-1]) == (batch == 1_638_400)


def test_the_oldest_survive_in_mosquitto_and_the_newest_in_emqx():
    waiting, dropped, mosquitto, emqx = drawn(figure("sessions"), "1,000")

    assert (waiting.y[-1], dropped.y[-1]) == (1_000, 2_600)
    assert (mosquitto.base[0], mosquitto.x[0]) == (0, 1_000)
    assert (emqx.base[0], emqx.x[0]) == (2_600, 1_000)


def test_a_queue_without_a_limit_drops_nothing():
    waiting, dropped, _, emqx = drawn(figure("sessions"), "no limit")

    assert (waiting.y[-1], set(dropped.y), emqx.x[0]) == (3_600, {0}, 3_600)


@pytest.mark.parametrize("dead", chains.DEAD)
def test_dead_sessions_divert_the_share_that_the_model_says(dead):
    arrived, waits, dropped = drawn(figure("chains"), str(dead))

    assert arrived.x[0] - arrived.x[1] == diverted(Strategy.TURNS, 4, dead, 20_000).likely
    assert arrived.x[1] + waits.x[1] + dropped.x[1] == arrived.x[0]
    assert waits.x[1] == 1_000 * dead


@pytest.mark.parametrize("module", [chains, delivery, groups, lag, rebalances, sessions, traffic])
def test_sliders_draw_what_they_are_set_to(module, monkeypatch):
    shown = []
    monkeypatch.setattr(module, "display", shown.append)
    box = module.sliders()
    shown.clear()
    first = box.children[0].children[0]
    first.value = first.value + 1 if first.value < first.max else first.value - 1

    assert len(shown) == 1
    assert not shown[0].frames


@pytest.mark.parametrize("path", NOTEBOOKS.values(), ids=NOTEBOOKS.keys())
class TestNotebooks:
    def test_matches_its_twin_and_holds_no_output(self, path):
        paper, screen = (jupytext.read(path.with_suffix(suffix)) for suffix in (".py", ".ipynb"))
        stored = json.loads(path.with_suffix(".ipynb").read_text(encoding="utf-8"))["cells"]

        assert [(c.cell_type, c.source) for c in paper.cells] == [(c.cell_type, c.source) for c in screen.cells]
        assert [cell for cell in stored if cell.get("outputs") or cell.get("execution_count")] == []

    def test_defines_nothing_and_ends_by_checking_itself(self, path):
        tree = ast.parse(path.with_suffix(".py").read_text(encoding="utf-8"))

        assert isinstance(tree.body[-1], ast.Assert)
        assert [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef | ast.Lambda)] == []

    @pytest.mark.slow
    def test_runs(self, path, tmp_path, monkeypatch):
        monkeypatch.chdir(path.parent)
        papermill_engines.register(running.ENGINE, running.Here)
        ran = papermill.execute_notebook(
            path.with_suffix(".ipynb"), tmp_path / "ran.ipynb", engine_name=running.ENGINE, progress_bar=False
        )
        shown = [output.data for cell in ran.cells if cell.cell_type == "code" for output in cell.outputs]

        assert any("application/vnd.plotly.v1+json" in data for data in shown)
        assert any("application/vnd.jupyter.widget-view+json" in data for data in shown)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
def test_figures_play_on_a_dark_telephone_and_fetch_nothing(folder):
    asked, problems = [], []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for slug in SLUGS:
            page = browser.new_page(viewport={"width": 390, "height": 900}, color_scheme="dark")
            page.on("request", lambda request: asked.append(request.url))
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("console", lambda line: problems.append(line.text) if line.type in ("error", "warning") else None)
            page.goto(f"file://{folder}/{slug}.html")
            page.locator(".updatemenu-button").first.click()
            second = re.sub(r"<br>|\s", "", figure(slug).frames[1].layout.title.text)
            title = "document.querySelector('.gtitle').textContent.replace(/\\s/g, '')"
            page.wait_for_function(f"text => {title} === text", arg=second)
            assert page.evaluate("document.documentElement.scrollWidth") == 390
        browser.close()

    assert problems == []
    assert {url.rpartition("/")[0] for url in asked} == {f"file://{folder}"}
