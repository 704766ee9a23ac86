"""Moments on one clock: years and zones that lines leave out, clocks that are off."""
