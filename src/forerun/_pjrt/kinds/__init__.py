"""How each kind of operations is written, a file for each family; `call` is the argument that they get."""
