"""What figures need is there in order."""

import subprocess
import sys


def test_pandas_is_whole_before_plotly_looks_for_it():
    code = "import sys, mqlab.figures; names = [*sys.modules]; print(names.index('pandas') < names.index('plotly'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
