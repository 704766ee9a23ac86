"""What `mqlab capture` refuses before anything is asked, and what it leaves running: nothing."""

import subprocess
import sys
import time

import click
import psutil
import pytest

from mqlab.cli import commands
from mqlab.gather import programs


def refused(*words):
    """What is said of the command line."""
    with pytest.raises(click.UsageError) as error:
        commands.main(["capture", *words], standalone_mode=False)
    return error.value.format_message()


@pytest.mark.parametrize(
    "words",
    [
        ("kafka", "--bootstrap", "u:s3cret@k:9092"),
        ("rocketmq", "--namesrv", "u:s3cret@ns:9876"),
        ("mqtt", "--broker", "mqtt://u:s3cret@m:1883"),
        ("mqtt", "--emqx", "http://u:s3cret/x@m:18083"),
        ("kafka", "--bootstrap", "k:9092", "--prometheus", "http://u:s3cret/x@p:9090"),
        ("kafka", "--bootstrap", "k:9092", "--scrape", "u:s3cret@p:9090"),
    ],
)
def test_credentials_that_would_stand_in_the_manifest_are_refused_and_not_repeated(tmp_path, words):
    said = refused(*words, "-o", str(tmp_path / "b"))
    assert "give" in said
    assert "s3cret" not in said
    assert not (tmp_path / "b").exists()


def test_a_password_file_that_is_no_text_is_one_sentence(tmp_path):
    (tmp_path / "secret").write_bytes(b"\xff\xfe")
    words = ("mqtt", "--broker", "127.0.0.1:1", "--username", "u", "--password-file", str(tmp_path / "secret"))
    assert refused(*words, "-o", str(tmp_path / "b")) == f"{tmp_path / 'secret'} cannot be read: it is not a text file."
    assert not (tmp_path / "b").exists()


def test_a_working_folder_that_was_removed_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    said = refused("kafka", "--bootstrap", "127.0.0.1:1", "-o", str(tmp_path / "b"))
    assert said == "The current folder was removed: change to another one."


def test_what_a_program_has_started_ends_with_it(tmp_path):
    script = f"{sys.executable} -c 'import time; time.sleep(60)' & echo $! > {tmp_path / 'child'}; wait"
    with pytest.raises(subprocess.TimeoutExpired):
        programs.ran(("sh", "-c", script), patience=1)
    child, until = int((tmp_path / "child").read_text()), time.monotonic() + 10
    while psutil.pid_exists(child) and psutil.Process(child).status() != "zombie" and time.monotonic() < until:
        time.sleep(0.05)
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == "zombie"
