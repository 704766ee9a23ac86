"""Tables made small inside Spark: counts, runs and extrema instead of rows."""

SECONDS = 10
"""What one row spans; ``rows.GRID`` is the same to those that read Facts."""
MICROS = SECONDS * 1_000_000
"""The same in microseconds, as Spark's moments are."""
