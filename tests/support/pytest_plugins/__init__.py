"""Plugins of pytest that all runs of the tests load, or some name."""
