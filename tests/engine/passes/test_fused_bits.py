"""Fused operations have the bits of single ones: reductions, casts, layouts, functions with two results."""

from __future__ import annotations

import numpy
import pytest

from forerun import np
from tests.support.engine.passes import check_all_passes, gelu, random_floats

pytestmark = pytest.mark.usefixtures("any_op_is_worth_a_group")


class TestBits:
    @pytest.mark.parametrize("n", [1, 2, 3, 2047, 2048, 2049, 65535, 65536, 65537, 2 * (65536 + 2048)])
    def test_chain(self, n):
        did = check_all_passes(
            lambda x, y: gelu(x) * y + np.exp(-abs(x)) / (y * y + 1), random_floats(n), random_floats(n) + 1
        )
        assert did["groups"] == 1

    @pytest.mark.parametrize(
        "columns", [1, 2, 10, 255, 256, 257, 2047, 2048, 2049, 4096, 4097, 16383, 16384, 16385, 65537]
    )
    @pytest.mark.parametrize("axis", [0, 1, None])
    def test_reductions_read_again(self, columns, axis):
        def program(x):
            top = x.max(axis, keepdims=True)
            e = np.exp(x - top)
            share = e / e.sum(axis, keepdims=True)
            centred = x - x.mean(axis, keepdims=True)
            deviation = np.sqrt((centred * centred).mean(axis, keepdims=True) + 1e-5)
            return share, centred / deviation, x.var(axis), (share * x).min(axis), (x > 0).sum(axis)

        check_all_passes(program, random_floats(max(2, 20_000 // columns), columns))

    @pytest.mark.parametrize("columns", [2, 100, 2049])
    def test_equal_reductions_of_rows(self, columns):
        def repeated(x):
            return x.sum(1), x.mean(1), x.var(1), x.max(1), x.max(1), x.sum(1), x.sum(1, initial=3), (x * 2).sum(1)

        def results_written_again(x):
            total = x.sum(1)
            total *= 2
            return total, x.sum(1)

        def operand_written_again(x):
            y = x + 1
            before = y.sum(1)
            y += x
            return before, y.sum(1), y

        def of_the_same_shapes(reduce):
            return lambda x: (x.max(1), getattr(x, reduce)(1))

        x = random_floats(300, columns)
        for program in (repeated, results_written_again, operand_written_again):
            check_all_passes(program, x)
        for reduce in ("max", "min", "max"):
            check_all_passes(of_the_same_shapes(reduce), x)

    @pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)])
    @pytest.mark.parametrize("shape", [(3, 5, 7), (40, 3, 300), (1, 600, 100), (300, 1, 70), (0, 2, 3), (2, 3, 1)])
    def test_reductions_of_three_axes(self, shape, axes):
        def program(x):
            y = x * 2 - 1
            return y.sum(axes), y.sum(axes, keepdims=True) + x, (y - y.sum(axes, keepdims=True)).prod(axes)

        check_all_passes(program, random_floats(*shape))

    @pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all", "mean"])
    @pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "float64"])
    def test_each_reduction(self, name, dtype):
        x = (random_floats(50, 300) * 3).astype(dtype)

        def program(x):
            y = np.where(x > 0, x, x[::-1])
            return [getattr(y, name)(axis=axis) for axis in (0, 1, None)]

        check_all_passes(program, x)

    @pytest.mark.parametrize("shape", [(4, 0), (0, 4), (4, 1), (1, 4), (1, 1), ()])
    def test_reductions_of_empty_and_single_elements(self, shape):
        def program(x):
            y = x + 1
            return [y.sum(axis) * 2 for axis in (*range(y.ndim), None)] + [(y - y.sum()).sum(keepdims=True)]

        check_all_passes(program, random_floats(*shape))

    @pytest.mark.parametrize("middle", ["bool", "int8", "int32", "float16", "float32", "float64", "complex64"])
    @pytest.mark.parametrize("last", ["int16", "float32", "float64", "complex128"])
    def test_casts_in_between(self, middle, last):
        def program(x, y):
            z = (x * 3).astype(middle) if middle != "complex64" else x.astype(middle) * 1j
            z = z + y[:, :1].astype(middle)
            z = z.real if middle == "complex64" and not last.startswith("complex") else z
            w = z.astype(last) * 2
            return w, w + w.sum(1, keepdims=True), abs(w).max()

        check_all_passes(program, random_floats(30, 211) * 5, random_floats(30, 211) * 5)

    def test_functions_with_two_results(self):
        x, y = random_floats(3001) * 10, random_floats(3001) + 5

        def both(x, y):
            z = x + y
            return [*np.divmod(z, y), *np.modf(z * 2), *np.frexp(z * 3)]

        def firsts(x, y):
            z = x + y
            return [np.divmod(z, y)[0] + 1, np.modf(z * 2)[0] + 1, np.frexp(z * 3)[0] + 1]

        def seconds(x, y):
            z = x + y
            return [np.divmod(z, y)[1] + 1, np.modf(z * 2)[1] + 1, np.frexp(z * 3)[1] + 1]

        for program in (both, firsts, seconds):
            check_all_passes(program, x, y)

    @pytest.mark.parametrize("exponent", [2.0, 0.5, 3.0, -1.0])
    def test_exponents_by_rows(self, exponent):
        """NumPy takes another path where one exponent is for all: it must not depend on where a block ends."""
        x = abs(random_floats(1500, 3)) + 0.1
        e = numpy.full((1500, 1), exponent, "float32")
        check_all_passes(lambda x, e: [(x + 1) ** e * 2, (x + 1) ** exponent * 2, (x * e[:1]) ** e], x, e)
        check_all_passes(lambda x, e: (x + 1) ** e.T * 2, x.T.copy(), e)

    def test_broadcast_of_one_element(self, improving):
        x = np.array(abs(random_floats(300)) + 1)
        many, single = (x * 3) ** 2.0, []
        for i in range(300):
            y = x[i : i + 1] * 3
            y **= 2.0
            single.append(y.item())
        assert single == many.tolist()

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    @pytest.mark.parametrize("name", ["arccos", "arcsin", "log10", "exp", "sin", "tan", "tanh", "cbrt", "expm1"])
    def test_functions_of_strided_values(self, name, dtype):
        """The last bits of some loops of NumPy's depend on strides."""

        def program(x):
            f = getattr(np, name)
            return [f(v) + 1 for v in (x, x[:, ::3], x.T, x[::-1], np.broadcast_to(x[:, :1], x.shape), x[3])]

        check_all_passes(program, abs(numpy.sin(random_floats(30, 301))).astype(dtype))

    def test_layouts(self):
        def program(x, y):
            a = np.tanh(x.T) + y[::-1].T * x[:, :1].T
            b = np.sin(x[::2, ::3]) * y[1::2, 1::3]
            c = np.exp(np.broadcast_to(x[3], (40, 90))) + x * y[:, 4:5]
            return a, b, c, a.sum(0), b.mean(1), c / c.sum(1, keepdims=True)

        check_all_passes(program, random_floats(40, 90), random_floats(40, 90) * 2)
