"""The foundations of all operations.

`registry`, ops by name; `primitive`, the kinds of operations; `promotion`, dtypes of results; `convert`, arrays from
users' arguments; `dtypes`, users' questions about dtypes; `host_task`, Python functions as ops; `random_stream`;
`traced`, the placeholders of arrays in a capture; `programs`, captured operations and their cache; `one_module`,
functions whose operations are one program on a GPU; `core`, the core's own functions for other folders.
"""
