"""The class of arrays, and what NumPy calls of it.

`ufunc_calls`, `ufunc_protocol`: ufuncs; `numpy_protocols`; `call_forms`; `numpy_methods`, `mxnet_methods`, `ndarray`;
`scalar`.
"""
