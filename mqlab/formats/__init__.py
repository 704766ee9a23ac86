"""What mqlab can read: one module per format, plain Python; ``registry`` lists them."""
