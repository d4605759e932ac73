"""One model for each hand-over."""
