"""Starts the ranks of a program, sees how each of them ends, and tells the others.

- `launcher`: `forerun run -n 4`: starts the MPI's own launcher, passes signals on, starts again after a failure;
- `mpi`: which launcher that is, by the library that mpi4py loads;
- `keeper`: the process around each rank: prefixes its output, reports its end, leaves nothing running;
- `watch`: the side that all ranks are connected to, in the launcher;
- `link`: a rank's side of that connection;
- `siblings`: how ranks watch each other if MPI's own launcher has started them.
"""
