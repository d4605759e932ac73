"""How often blocks and parameters have been changed: what was worked out for one count holds until the next."""

count = 0


def note() -> None:
    """Takes note of a change."""
    global count
    count += 1
