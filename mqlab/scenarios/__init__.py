"""What would have been, and what will be: groups replayed, backlogs drained, batches split."""
