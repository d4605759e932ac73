"""The engine's Python interface, and the services that start with the package.

`system`, where systems differ; `blas` and `settings` are read before anything runs; `device`; `engine`, memory and
waits; `lifecycle`, forks and exit; `pacing`; `pending`; `logging`; `asyncio`; `registry`, classes that are known by
names.
"""
