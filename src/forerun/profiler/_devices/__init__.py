"""Devices of plugins in profiles: their lanes, modules compiled for them, operations that the host ran for them."""
