"""Two captures side by side, and all incidents of a team: plain data, and how it is shown. No Spark."""
