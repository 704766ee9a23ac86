"""Ways to commit side by side: recorded figures, and the benchmark at a broker that somebody names."""
