"""Random numbers.

`limits` and `conditions`, what parameters must be; `basic`, uniform and normal numbers and permutations; `implicit`
and `reparametrised`, draws with gradients; `distributions`, `densities`, `counts`, `choice`; `generator`, NumPy's
class over all of them; `npx_sampling`, MXNet's spelling.
"""
