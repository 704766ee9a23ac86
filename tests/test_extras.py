"""Packages that only some verbs need: where one is absent, one sentence says what to install."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mqlab.errors import EXTRAS, MissingExtraError, extras

WITHOUT = """
import sys
for name in sys.argv.pop(1).split():
    sys.modules[name] = None
from mqlab.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("absent", "words", "verb", "package", "extra"),
    [
        ("confluent_kafka", "--bootstrap 127.0.0.1:1 -o bundle", "capture kafka", "confluent-kafka", "capture"),
        ("paho", "slow-consumer", "lab run", "paho-mqtt", "lab"),
        ("cryptography", "list", "train", "cryptography", "training"),
        ("jupyterlab", "material.log", "notebook open", "jupyterlab", "notebooks"),
    ],
)
def test_a_verb_whose_package_is_absent_says_what_to_install(tmp_path, absent, words, verb, package, extra):
    (tmp_path / "material.log").write_text("x\n")
    command = [sys.executable, "-c", WITHOUT, absent, *verb.split(), *words.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    sentence = f'`mqlab {verb}` needs {package}, which is not installed: run pip install "mqlab[{extra}]".'
    assert (done.returncode, done.stdout, done.stderr) == (64, "", f"mqlab: {sentence}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["material.log"]


def test_help_and_completion_need_no_extra():
    every = " ".join({module for packages in EXTRAS.values() for module in packages})
    asked = {"_MQLAB_COMPLETE": "bash_complete", "COMP_WORDS": "mqlab train ", "COMP_CWORD": "2"}
    for words, more in ((["--help"], {}), ([], asked)):
        command = [sys.executable, "-c", WITHOUT, every, *words]
        done = subprocess.run(command, env={"PATH": "/bin", **more}, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_an_absent_package_is_an_import_error_in_python_too(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)

    sentence = re.escape(
        '`mqlab.training` needs ipywidgets, which is not installed: run pip install "mqlab[training]".'
    )
    with pytest.raises(ImportError, match=sentence) as raised, extras("mqlab.training"):
        import ipywidgets  # noqa: F401
    assert isinstance(raised.value, MissingExtraError)


@pytest.mark.parametrize("module", ["no_such_module", "mqlab.no_such_module", "confluent_kafka.no_such_module"])
def test_what_is_no_package_of_an_extra_stays_a_bug(module):
    __import__("confluent_kafka")

    with pytest.raises(ModuleNotFoundError) as raised, extras("mqlab capture"):
        __import__(module)
    assert not isinstance(raised.value, MissingExtraError)


def test_each_extra_brings_what_its_verbs_need():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]

    def brought(extra):
        for wanted in project["optional-dependencies"][extra]:
            if wanted.startswith("mqlab["):
                yield from (name for other in wanted[6:-1].split(",") for name in brought(other))
            else:
                yield wanted

    for extra, packages in EXTRAS.items():
        every = list(brought(extra))
        assert [name for name in packages.values() if not any(one.startswith(f"{name}>=") for one in every)] == [], (
            extra
        )
