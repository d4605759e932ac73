"""Blocks: `hooks`, `summary`, `block`, and `hybrid`, blocks whose calls are recorded."""

from .block import Block as Block
from .hybrid import HybridBlock as HybridBlock

__all__ = ["Block", "HybridBlock"]
