"""Order: `sort`, with searches and counts; `unique`, with sets."""
