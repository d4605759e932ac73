"""Operations, a paragraph each: how it is issued, its gradients, its docstring.

A folder per subject, each of which uses those before it: `_base`, the parts of an op; `elementwise`; `shape`;
`create`; `reduce`; `index`; `sort`; `linalg`; `statistics`, `signal`; `random`; `mxnet`; `nn`; `vision`. In a folder
too, files use those before them, in the order in which its `__init__.py` lists them.
"""
