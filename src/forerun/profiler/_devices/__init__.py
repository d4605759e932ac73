"""Devices in recordings.

`lanes`: events of operations that devices run; `work`: modules that were compiled, operations that ran on the host.
"""
