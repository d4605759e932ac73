"""Random numbers: a function of the seed, the number of the op since then, and the position.

They never depend on the threads that compute them. Uniform, normal, exponential and integer numbers are filled in tiles
by the workers; NumPy draws the others in a host task, from a stream of the same key.

`limits` and `conditions`, requirements on parameters; `arguments`, functions that all draws share; `seeding`;
`uniform_normal`, `integers`, `permutations` and `choice`; `implicit` and `reparametrised`, draws with gradients;
`families`, the other distributions; `generator`, NumPy's class over all of them; `npx_sampling`, MXNet's spelling.
"""
