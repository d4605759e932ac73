"""The foundations of all operations.

`registry`, ops by name; `primitive`, the kinds of operations; `promotion`, dtypes of results; `convert`, arrays of what
users pass; `dtypes`, what users ask about them; `host_task`, Python functions as ops; `random_stream`; `traced`, what
a recording shows of an array.
"""
