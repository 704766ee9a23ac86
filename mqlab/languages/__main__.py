"""``python -m mqlab.languages``: bring catalogues up to date with the texts; new ones wait for their translation."""

from __future__ import annotations

import sys

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from mqlab.languages import ENGLISH, LANGUAGES
from mqlab.languages.extraction import PACKAGE, texts
from mqlab.languages.fixed import messages


def update(language: str) -> int:
    """Write the catalogues of *language*, and return how many texts are not translated."""
    known, missing = dict(messages(language)), 0
    for name, found in texts().items():
        catalogue = Catalog(locale=language, project="mqlab", fuzzy=False)
        for text, file in found.items():
            catalogue.add(text, known.get(text, ""), locations=[(file, 0)]).flags.clear()
            missing += text not in known
        with (PACKAGE / "languages" / language / f"{name}.po").open("wb") as stream:
            write_po(stream, catalogue, width=0, omit_header=True, include_lineno=False)
    return missing


for one in LANGUAGES:
    if one != ENGLISH:
        sys.stdout.write(f"{one}: {update(one)} texts without translation\n")
