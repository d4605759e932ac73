"""Functions that only MXNet has."""
