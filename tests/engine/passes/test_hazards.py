"""Operations of one group that write what others of it read."""

from __future__ import annotations

import numpy
import pytest

import forerun
from forerun import np
from forerun.testing import closed_gate
from tests.support.engine.passes import check_all_passes, random_floats

pytestmark = pytest.mark.usefixtures("any_op_is_worth_a_group")


class TestHazards:
    """Dependencies inside of a group."""

    @pytest.mark.parametrize("n", [5, 3000, 70_000])
    def test_read_before_write(self, n):
        def program(x):
            t = x * 2
            x += 1
            return t + x, x, t

        did = check_all_passes(program, random_floats(n))
        assert did["groups"] == 1

    def test_the_same_array_twice(self):
        def program(x):
            y = x * x
            y += y
            x *= x
            x -= x * y
            return x, y

        check_all_passes(program, random_floats(5000))

    @pytest.mark.parametrize(
        "view",
        [
            lambda x: x.T, lambda x: x[::-1], lambda x: x[:, ::-1], lambda x: x[:1], lambda x: x[:, :1], lambda x: x[7],
            lambda x: x[:, 5], lambda x: np.broadcast_to(x[0], x.shape), lambda x: np.roll(x, 1),
        ],
    )  # fmt: skip
    def test_other_view_of_the_written_array(self, view):
        def program(x, y):
            v = view(x)
            before = v * 2 + y
            x += y
            between = v * 2 + y
            x *= 3
            return before, between, v - y, x

        check_all_passes(program, random_floats(90, 90), random_floats(90, 90) * 7)

    @pytest.mark.parametrize("apart", [1, 2047, 2048, 3000])
    @pytest.mark.parametrize("n", [2, 3000])
    def test_two_slices_of_one_array(self, n, apart):
        def program(x):
            a, b = x[:n], x[apart : apart + n]
            t = a * 2
            a += 1
            u = b + t
            b *= u
            a -= b
            return t, u, x, a + b

        check_all_passes(program, random_floats(6000))

    def test_overlap_within_one_op(self):
        def program(x):
            y = x * 2
            y[1:] += y[:-1]
            y[:-1] *= y[1:]
            y[...] = y[::-1] + 1
            return y + x

        check_all_passes(program, random_floats(9000))

    @pytest.mark.parametrize("axis", [0, 1, None])
    def test_reduced_before_and_after_a_write(self, axis):
        def program(x, y):
            before = x.sum(axis, keepdims=True)
            x -= before
            after = x.sum(axis, keepdims=True)
            before *= 2
            x += after - before
            after[...] = x.max(axis, keepdims=True)
            return x, before, after, x * y + after

        check_all_passes(program, random_floats(60, 70), random_floats(60, 70))

    def test_rows_as_long_as_the_column(self):
        def program(x):  # sums over one axis, read along the other
            m = x.sum(1)
            return x - m, x - m[:, None], x * m.sum(), (x + m).sum(0) + m

        check_all_passes(program, random_floats(70, 70))

    def test_rows_in_another_order(self):
        def program(x):  # a row may need elements of a later row
            y = x * 2
            m = y.sum(2)
            m -= 1
            turned = [m[::-1], m[:, ::-1], m.T, m[:1], m[:, :1], m[3], m[::2].repeat(2, 0)]
            return [y - v[..., None] for v in turned]

        check_all_passes(program, random_floats(20, 20, 30))

    def test_out(self):
        def program(x, y):
            t = np.add(x, y, out=y)
            u = np.multiply(t, x)
            np.exp(u / 10, out=u)
            np.subtract(u, y, out=x[:])
            np.add(x[:, :4], u[:, 4:8], out=y[:, 2:6])
            np.negative(x.T, out=u.T)
            return x, y, u, t + u

        check_all_passes(program, random_floats(50, 60), random_floats(50, 60))

    @pytest.mark.parametrize("n", [9, 3000])
    def test_exported_values_are_kept(self, improving, n):
        x, y = np.array(random_floats(n)), np.ones(n)
        values = x.numpy()
        old = values.copy()
        with closed_gate():
            t = x + y
            x += t
            x *= 2
            np.add(x, t, out=y)
        assert numpy.array_equal(values, old)
        assert x.asnumpy().tobytes() == ((old + (old + 1)) * 2).tobytes()
        assert y.asnumpy().tobytes() == ((old + (old + 1)) * 2 + (old + 1)).tobytes()
        assert numpy.array_equal(values, old)

    def test_overwritten_while_a_reader_outside_the_group_is_pending(self, improving):
        x, y = np.array(random_floats(3000)), np.ones(3000)
        values, old = x.numpy(), random_floats(3000)
        with closed_gate():
            t = x + y
            np.multiply(y, 3, out=x)
            u = t + x
        assert t.asnumpy().tobytes() == (old + 1).tobytes()
        assert u.asnumpy().tobytes() == (old + 1 + 3).tobytes()
        assert (x.asnumpy() == 3).all()
        assert numpy.array_equal(values, old)

    def test_last_reference_dropped_before_exported_values(self, improving):
        x = np.array(random_floats(3000))
        values, old = x.numpy(), random_floats(3000)
        with closed_gate():
            x += 1
            x *= 2
            del x
        forerun.waitall()
        assert numpy.array_equal(values, old)

    def test_scan_and_copy_in_between(self):
        def program(x):
            y = np.cumsum(x * 2, axis=1) - x
            z = (y + 1).copy()
            y *= 0.5
            return y, z * y, np.cumsum(z - y, axis=0) + 1

        check_all_passes(program, random_floats(40, 300))
