"""Devices of plugins in profiles: their lanes, the modules that were compiled for them, what the host did for them."""
