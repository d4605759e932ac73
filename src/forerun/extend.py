"""Define operations of your own: they run asynchronously and have gradients.

`elementwise` makes an operation from a ufunc, `primitive` from a function that calls other operations, `host` from any
Python function, which the engine calls as soon as its inputs are computed. `nondifferentiable` is the gradient of
piecewise constant functions. See docs/explanation/architecture.md.

>>> from forerun import autograd, np
>>> from forerun.extend import primitive
>>> @primitive(lambda g, x: 3 * g * x * x)
... def cube(x):
...     return x * x * x
>>> x = np.array([2.0]); x.attach_grad()
>>> with autograd.record():
...     y = cube(x)
>>> y.backward(); x.grad.tolist()
[12.0]
"""

from __future__ import annotations

from ._display.namespaces import dir_of
from .ops._base.host_task import host
from .ops._base.primitive import Elementwise, Primitive, elementwise, nondifferentiable, primitive

__all__ = ["Elementwise", "Primitive", "elementwise", "host", "nondifferentiable", "primitive"]
__dir__ = dir_of(__name__)
