"""The image and the dev container are those of this project, and ask for a token."""

import json
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
CONTAINER = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())


def test_the_image_has_the_python_of_the_environment_and_what_is_locked_with_hashes():
    python = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"][0].partition("=")[2]

    assert re.search(r"^FROM python:([\d.]+)", DOCKERFILE, re.MULTILINE)[1] == python
    assert "pip install --no-cache-dir --require-hashes --requirement requirements.lock" in DOCKERFILE


def test_nobody_gets_in_without_a_token_and_nothing_runs_as_root():
    assert not re.search("token|password", f"{DOCKERFILE.partition('FROM')[2]}{CONTAINER}", re.IGNORECASE)
    assert re.findall(r"^USER (.+)", DOCKERFILE, re.MULTILINE) == ["1000"]
    assert CONTAINER["build"]["dockerfile"] == "../Dockerfile"
