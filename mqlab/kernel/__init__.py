"""The one place where Python runs inside Spark: bytes of a split become rows of canonical tables, and counts."""
