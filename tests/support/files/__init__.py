"""Files that tests read and write."""
