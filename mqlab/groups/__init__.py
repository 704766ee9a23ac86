"""Consumer groups of any system: their queues, their lag, who was there, what was handled twice."""
