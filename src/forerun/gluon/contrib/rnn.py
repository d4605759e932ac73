"""Cells of `gluon.rnn` that MXNet 1.x keeps in `gluon.contrib.rnn`."""

from ..rnn import VariationalDropoutCell as VariationalDropoutCell

__all__ = ["VariationalDropoutCell"]
