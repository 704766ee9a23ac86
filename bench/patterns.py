"""mqlab's signatures as three expressions that Rust's and Google's engines read too."""

from __future__ import annotations

from mqlab.loaders.signatures import SIGNATURES

_COMPONENTS = r"(?:\[[^\]]*\]:? ?)*"


def signature_patterns() -> dict[str, str]:
    """What selects a line, as mqlab's scan applies it.

    ``begins`` is for a dated line behind its stamp, ``elsewhere`` for a line without one, ``contains`` for lines at
    WARN or worse or without a level. Signatures that hold in files of one format alone are left out: the bench's log
    is none of those.
    """
    anywhere = tuple(s for s in SIGNATURES if not s.only)
    begins = "|".join(s.begins for s in anywhere if s.begins)
    return {
        "begins": rf"^(?:[A-Z]+ +)?{_COMPONENTS}(?:{begins})",
        "elsewhere": rf"(?:[\]:\-)]|(?:INFO|WARN(?:ING)?|ERROR|DEBUG)(?: +[\w.]+)?) +{_COMPONENTS}(?:{begins})",
        "contains": "|".join(s.contains for s in anywhere if s.contains),
    }
