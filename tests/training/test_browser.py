"""An exercise's forms work in JupyterLab, in a real browser."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from exercise_builder import started

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
CELLS = [
    "from mqlab.training import at\nexercise = at('.')\nexercise",
    "exercise.ask('starts_in')",
    "exercise.ask('since')",
]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")]


@pytest.fixture
def attempt(tmp_path):
    """An attempt with a notebook of two forms."""
    one = started(tmp_path)
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [cell | {"id": f"cell-{number}", "source": source} for number, source in enumerate(CELLS)]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    document = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (one.folder / "forms.ipynb").write_text(json.dumps(document))
    return one


@pytest.fixture
def address(attempt, tmp_path):
    """JupyterLab in the attempt's folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = {name: str(tmp_path / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
    options = ["--no-browser", "--allow-root", f"--port={port}", "--IdentityProvider.token=", "--ServerApp.password="]
    command = [sys.executable, "-m", "jupyterlab", *options, f"--ServerApp.root_dir={attempt.folder}"]
    paths = [str(Path(sys.executable).parents[1] / "share" / "jupyter")]
    environment = os.environ | home | {"JUPYTER_PATH": os.pathsep.join(paths)}
    server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    _wait_for(f"{url}/api", server)
    yield url
    server.terminate()
    server.wait(20)


def _wait_for(url, server):
    for _ in range(300):
        assert server.poll() is None, "JupyterLab ended"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail("JupyterLab did not start")


def test_a_form_checks_an_answer_and_the_next_question_opens(attempt, address):
    from playwright.sync_api import expect, sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(60_000)
        expect.set_options(timeout=60_000)
        page.goto(f"{address}/lab/tree/forms.ipynb?reset")
        page.locator(".jp-Notebook").wait_for()
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        first, second = (
            page.locator(".jp-OutputArea .widget-vbox").nth(0),
            page.locator(".jp-OutputArea .widget-vbox").nth(1),
        )

        first.get_by_text("a broker", exact=True).click()
        first.get_by_role("button", name="Check").click()
        expect(first).to_contain_text("a broker is not right. It answers. Two tries are left.")
        first.get_by_text("a consumer or subscriber", exact=True).click()
        first.get_by_role("button", name="Check").click()
        expect(first).to_contain_text("a consumer or subscriber is right. Its heartbeats stop.")
        expect(first).to_contain_text("Continue with the next question.")

        second.locator("input").fill("noon")
        second.get_by_role("button", name="Check").click()
        expect(second).to_contain_text("'noon' is not a valid time")
        second.locator("input").fill("12:00:31")
        second.get_by_role("button", name="Check").click()
        expect(second).to_contain_text("12:00:31 is right. The first expulsion.")
        if picture := os.environ.get("MQLAB_PICTURE"):
            page.screenshot(path=picture)
        browser.close()

    assert [(e["question"], e["answer"], e["closed"]) for e in attempt.journal.entries if e["kind"] == "answer"] == [
        ("starts_in", "broker", False),
        ("starts_in", "consumer", True),
        ("since", "12:00:31", True),
    ]
