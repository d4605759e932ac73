"""Programs of ocean physics: what one step of an ocean model spends its time on, in ordinary array code.

They compute what the three programs of the public collection pyhpc-benchmarks do, written anew. Each is a function
of a peer and of arrays, written once: `peer.xp` is the namespace; `peer.put` and `peer.add` write into slices, in place
where arrays can be written and else into new ones, and return the array.
"""
