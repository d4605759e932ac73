"""Experiments of the chapter on asynchronous computation."""
