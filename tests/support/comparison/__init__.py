"""Values that the tests compare with, and ways to compare."""
