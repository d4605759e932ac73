"""The class of arrays and what NumPy calls of it: `ufunc_calls`, `ufunc_protocol`."""
