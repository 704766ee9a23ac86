"""``python -m mqlab.models.allocation < cases.ndjson > results.ndjson``: a line ``{"case": n, "result": …}`` a case."""

from __future__ import annotations

import json
import sys

from mqlab.errors import MqlabError
from mqlab.models.allocation.replay import answers


def main() -> int:
    """Answer the cases of standard input line by line; return the exit code, 64 where a line is no case."""
    try:
        for answer in answers(sys.stdin.buffer):
            sys.stdout.write(json.dumps(answer, separators=(",", ":")) + "\n")
    except MqlabError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
