"""What all operations share.

`registry`, ops by name; `primitive`, what an op is made of; `promotion`, dtypes together; `convert`, arrays of what
users pass; `dtypes`, what users ask about them; `host_task`, Python functions as ops; `random_stream`; `traced`, what
a recording shows of an array.
"""
