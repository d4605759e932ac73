"""Random numbers.

`limits` and `conditions`, what parameters must be; `arguments`, what all draws share; `seeding`; `uniform_normal`,
`integers`, `permutations` and `choice`; `implicit` and `reparametrised`, draws with gradients; `families`, the other
distributions; `generator`, NumPy's class over all of them; `npx_sampling`, MXNet's spelling.
"""
