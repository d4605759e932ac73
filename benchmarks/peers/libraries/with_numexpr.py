"""The rows with numexpr, which has element-wise expressions and sums of them."""

from __future__ import annotations

from typing import Any

import numexpr
import numpy
from base import Peer, Program


class Numexpr(Peer):
    """Expressions in strings, on NumPy's arrays. Constants are float32 variables, or all would be float64."""

    package = "numexpr"
    lacks = "has element-wise expressions and sums of them"

    def _once(self, expression: str, **names: Any) -> Program:
        names = {name: x if isinstance(x, numpy.ndarray) else numpy.float32(x) for name, x in names.items()}
        return lambda: numexpr.evaluate(expression, local_dict=names)

    def multiply_add(self, x: Any, y: Any, count: int) -> Program:
        return self._once("x*y + 2", x=x, y=y)

    def gelu(self, x: Any, count: int) -> Program:
        names = {"half": 0.5, "inner": 0.7978845608, "cube": 0.044715}
        return self._once("half * x * (1 + tanh(inner * (x + cube * x * x * x)))", x=x, **names)

    def sum(self, x: Any, count: int) -> Program:
        return self._once("sum(x)", x=x)

    def squares(self, a: Any, b: Any, count: int) -> Program:
        total, n = self._once("sum((a - b)**2)", a=a, b=b), numpy.float32(a.size)
        return lambda: total() / n
