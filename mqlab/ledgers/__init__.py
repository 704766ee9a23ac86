"""What the files are in which applications note their messages, and what stands in them."""
