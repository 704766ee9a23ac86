"""What is out of the ordinary and explained by no finding: the guard against calling trouble health."""
