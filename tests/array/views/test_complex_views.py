"""x.real and x.imag are views: writes to them change x, in order with all other reads and writes of it."""

from typing import Any

import numpy
import pytest

from forerun import autograd, np


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_writing_a_part_writes_the_array(dtype: str) -> None:
    x = np.array([[1 + 2j, 3 + 4j]], dtype=dtype)
    x.real[0, 0] = 7
    x.imag += 10
    x.T.real[1] *= 2
    assert x.tolist() == [[7 + 12j, 6 + 14j]]
    assert x.real.dtype == x.imag.dtype == ("float32" if dtype == "complex64" else "float64")


def test_assigning_to_a_part() -> None:
    x, y = np.array([1 + 2j, 3 + 4j]), np.array([1.0, 2.0])
    x.real, x.imag, y.real = 5, [6, 7], 8
    assert x.tolist() == [5 + 6j, 5 + 7j]
    assert y.tolist() == [8, 8]
    with pytest.raises(TypeError, match="imag: dtype must be complex, got float32"):
        y.imag = 1
    with pytest.raises(ValueError, match="shape"):
        x.real = [1, 2, 3]
    z = np.array(3 + 4j)
    z.real = 9
    assert z.item() == 9 + 4j


def _steps(multiply: Any, absolute: Any) -> list[Any]:
    """Writes in place, some to memory that they read in another place."""

    def add_parts(x: Any) -> None:
        x += x.real

    def subtract(x: Any) -> None:
        x.real -= x.imag

    def shift(x: Any) -> None:
        x.imag[1:] = x.real[:-1]

    def across(x: Any) -> None:
        x.T.real[3:7] *= 0.5

    def lengths(x: Any) -> None:
        x.real = absolute(x)

    return [
        add_parts, subtract, shift, across, lengths,
        lambda x: multiply(x.real, x.imag, out=x.imag), lambda x: multiply(x, x.imag, out=x),
        lambda x: multiply(x, 1 / 16, out=x),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_programs_of_parts_are_numpys(seed: int) -> None:
    generator = numpy.random.default_rng(seed)
    values = (generator.normal(size=(50, 70)) + 1j * generator.normal(size=(50, 70))).astype("complex64")
    x, numpy_x = np.array(values, dtype="complex64"), values
    steps, numpy_steps = _steps(np.multiply, np.abs), _steps(numpy.multiply, numpy.abs)
    with numpy.errstate(all="ignore"):
        for i in generator.integers(0, len(steps), 60):
            steps[i](x), numpy_steps[i](numpy_x)
        sums = x.real * 2 - x.imag
        numpy.testing.assert_array_equal(sums.asnumpy(), numpy_x.real * 2 - numpy_x.imag)
    numpy.testing.assert_array_equal(x.asnumpy(), numpy_x)


def test_parts_of_empty_arrays() -> None:
    assert np.zeros((0, 3), dtype="complex64").real.shape == (0, 3)


def test_gradients_of_parts() -> None:
    x = np.array([1 + 2j, 3 + 4j])
    x.attach_grad()
    with autograd.record():
        y = (x.real**2 + x.imag * 3).sum()
    y.backward()
    assert x.grad.tolist() == [2 + 3j, 6 + 3j]


def test_a_part_on_the_tape_is_not_written() -> None:
    x = np.array([1 + 2j])
    x.attach_grad()
    with autograd.record():
        y = x * 2
        with pytest.raises(RuntimeError, match="tape"):
            y.real[0] = 1
