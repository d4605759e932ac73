"""Experiments of the chapter on automatic parallelism."""
