"""Blocks, and samples for them."""
