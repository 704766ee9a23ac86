"""Tables made small inside Spark: counts, runs and extrema instead of rows."""
