"""How programs word a failure, by the class of incident that such words are a sign of: ``wordings.toml``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from mqlab.commands import read_toml


@cache
def wordings() -> Mapping[str, re.Pattern[str]]:
    """A regex by class, for lines that nothing else knows; what says more stands first."""
    return {slug: re.compile(words, re.IGNORECASE) for slug, words in read_toml("wordings.toml").items()}
