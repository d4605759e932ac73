"""The array class, and the protocols through which NumPy calls it.

`ufunc_calls`, `ufunc_protocol`: ufuncs; `numpy_protocols`; `call_forms`; `numpy_methods`, `mxnet_methods`, `ndarray`;
`scalar`.
"""
