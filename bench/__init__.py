"""Speed of mqlab, measured: the hot path against Polars and DuckDB, a cold triage and a report."""
