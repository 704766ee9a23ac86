"""From the rows that leave Spark to the rows of Facts, by subject."""
