"""Tables made small inside Spark: counts, runs and extrema instead of rows."""

from mqlab.rows import GRID

SECONDS = int(GRID)
"""What one row spans, of the grid that Facts are read by."""
MICROS = SECONDS * 1_000_000
"""The same in microseconds, as Spark's moments are."""
