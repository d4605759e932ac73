"""What operations of one's own are made of. Each is asynchronous, and its gradient flows.

`elementwise` makes one of a ufunc, `primitive` one of a function over other operations, `host` calls a Python function
when its inputs are there; `nondifferentiable` is the gradient of what is piecewise constant. See docs/ops.md.

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

from .ops._base.host_task import host
from .ops._base.primitive import Elementwise, Primitive, elementwise, nondifferentiable, primitive

__all__ = ["Elementwise", "Primitive", "elementwise", "host", "nondifferentiable", "primitive"]
