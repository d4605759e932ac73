"""Elements of vectors at many positions: values, errors, and writes to the vector that is read."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from forerun import np

N = 300_000  # several tiles
GENERATOR = numpy.random.default_rng(36)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("step", [1, 3, -2])
def test_positions_from_both_ends(dtype: str, step: int) -> None:
    values = (GENERATOR.standard_normal(1000) * 9).astype(dtype)
    places = GENERATOR.integers(-values[::step].size, values[::step].size, N)
    x, p = np.array(values)[::step], np.array(places)
    assert numpy.array_equal(x[p].numpy(), values[::step][places])
    assert numpy.array_equal(x[p.reshape(3, -1)].numpy(), values[::step][places.reshape(3, -1)])
    assert numpy.array_equal(np.take_along_axis(x, p, 0).numpy(), values[::step][places])


@pytest.mark.parametrize("step", [1, 3, -2])
def test_the_last_value_at_a_position_stays(step: int) -> None:
    expected, values = numpy.zeros(2000), GENERATOR.standard_normal(2 * N)
    places = GENERATOR.integers(-expected[::step].size, expected[::step].size, N)
    array, p, new = np.array(expected), np.array(places), np.array(values)
    expected[::step][places] = values[::2]
    array[::step][p] = new[::2]
    assert numpy.array_equal(array.numpy(), expected)
    expected[::step][places.reshape(2, -1)] = values[:N].reshape(2, -1)
    array[::step][p.reshape(2, -1)] = new[:N].reshape(2, -1)
    assert numpy.array_equal(array.numpy(), expected)
    np.put_along_axis(array, p, new[:N], 0)
    numpy.put_along_axis(expected, places, values[:N], 0)
    assert numpy.array_equal(array.numpy(), expected)


def test_positions_that_are_written_while_they_are_read() -> None:
    values = GENERATOR.permutation(N)
    x = np.array(values)
    x[x] = np.arange(N)
    assert numpy.array_equal(x.numpy(), numpy.argsort(values))


@pytest.mark.parametrize("bad", [1000, -1001, 2**62, -(2**63)])
def test_the_first_position_out_of_range_is_named(bad: int) -> None:
    places = GENERATOR.integers(-1000, 1000, N)
    places[[N // 2, -1]] = bad, 5000
    x, p = np.zeros(1000), np.array(places)

    def refused(call: Any) -> None:
        with pytest.raises(IndexError, match=rf"index must be in \[-1000, 1000\), got {bad}\b"):
            call().numpy()

    refused(lambda: x[p])
    x[p] = np.ones(N)
    refused(lambda: x)


class TestSeveralTilesOfATable:
    """Positions that are converted or combined tile by tile."""

    table = GENERATOR.standard_normal((120, 100))

    @pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "uint64"])
    def test_positions_of_any_dtype(self, dtype: str) -> None:
        places = GENERATOR.integers(0 if dtype[0] == "u" else -100, 100, (3, 2 * N // 3)).astype(dtype)
        x, all_places = np.array(self.table), np.array(places)
        views: list[Any] = [lambda a: a, lambda a: a[:, ::2], lambda a: a.T, lambda a: a[::-1, 1:]]
        for view in views:
            i, j = view(all_places), view(places)
            assert numpy.array_equal(x[0][i].numpy(), self.table[0][j])
            assert numpy.array_equal(x[i, 7].numpy(), self.table[j, 7])
            assert numpy.array_equal(x[i[:1], i].numpy(), self.table[j[:1], j])

    def test_rows_and_columns(self) -> None:
        rows = GENERATOR.integers(-100, 100, 5000).astype("int16")
        x, i = np.array(self.table), np.array(rows)
        assert numpy.array_equal(x[i].numpy(), self.table[rows])
        assert numpy.array_equal(x[:, i].numpy(), self.table[:, rows])
        assert numpy.array_equal(x[5:9, np.tile(i, 20)].numpy(), self.table[5:9, numpy.tile(rows, 20)])
        order = numpy.argsort(GENERATOR.random((700, 120, 10)), axis=1)
        values = GENERATOR.random((700, 120, 1))
        assert numpy.array_equal(
            np.take_along_axis(np.array(values), np.array(order.astype("uint8")), 1).numpy(),
            numpy.take_along_axis(values, order.astype("uint8"), 1),
        )

    def test_one_column_of_values(self) -> None:
        """Whose stride along the other axis has no meaning."""
        x, rows = self.table[:, :30].copy(), numpy.arange(120)[:, None]
        columns, values = GENERATOR.integers(0, 30, (120, 1)), GENERATOR.random((120, 5))
        for column in (values[:, 2:3], values[:, 2][:, None], values[:, 2].copy()[:, None]):
            a, b = np.array(x), x.copy()
            c = np.array(values)[:, 2:3] if column.strides[0] > 8 else np.array(values)[:, 2].copy()[:, None]
            np.put_along_axis(a, np.array(columns), c, 1)
            numpy.put_along_axis(b, columns, column, 1)
            np.add.at(a, (np.array(rows), np.array(columns)), c)
            numpy.add.at(b, (rows, columns), column)
            assert numpy.array_equal(a.numpy(), b)

    def test_the_first_of_several_out_of_range_is_named(self) -> None:
        """Whichever tile meets one first."""
        places = GENERATOR.integers(0, 100, 2 * N).astype("int16")
        places[[N // 3, N, -1]] = 301, 302, 303
        x, bad, good = np.array(self.table), np.array(places), np.array(places % 100)
        for call in (lambda: x[7, bad], lambda: x[good, bad], lambda: np.take_along_axis(x[:1], bad[None], 1)):
            with pytest.raises(IndexError, match=r"index must be in \[-100, 100\), got 301\b"):
                call().numpy()
        with pytest.raises(IndexError, match=r"index must be in \[-120, 120\), got 301\b"):
            x[bad, bad].numpy()
        with pytest.raises(IndexError, match=r"index must be in \[-120, 120\), got 500\b"):
            x[np.array(500) + 0, bad].numpy()
