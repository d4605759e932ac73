"""Programs of ocean physics: the parts of an ocean model's step that take most of its time, in ordinary array code.

They compute the same as the three programs of the public collection pyhpc-benchmarks, written anew. Each is a function
of a peer and of arrays, written once: `peer.xp` is the namespace; `peer.put` and `peer.add` write into slices, in place
where arrays can be written and else into new ones, and return the array.
"""
