"""What left its own earlier level when, what did so first and what surely followed."""
