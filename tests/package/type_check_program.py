"""What type checkers know of arrays: mypy reads this file with the package (`make lint`)."""

from typing import assert_type

import forerun
from forerun import np, npx
from forerun.typing import Array, ArrayLike, Axis, DeviceLike, DTypeLike, Shape

x = np.ones((2, 3))
assert_type(x, Array)
assert_type(forerun.np.zeros(3), Array)
assert_type(x + 1, Array)
assert_type(2 * x - x / 2, Array)
assert_type(-x[0], Array)
assert_type(x @ x.T, Array)
assert_type(x < 1, Array)
assert_type(np.add(x, 1), Array)
assert_type(np.sin(x).sum(axis=0), Array)
assert_type(np.add.reduce(x), Array)
assert_type(x.reshape(3, 2).mean(), Array)
assert_type(np.linalg.inv(np.eye(2)), Array)
assert_type(np.fft.fft(x), Array)
assert_type(np.random.normal(size=3), Array)
assert_type(npx.softmax(x), Array)


def shifted(
    values: ArrayLike, shape: Shape, axis: Axis = None, dtype: DTypeLike = None, device: DeviceLike = None
) -> Array:
    """The names stand for what functions take."""
    return np.asarray(values, dtype, device=device).reshape(shape).sum(axis)


shifted(x, 6)
shifted([[1.0, 2.0]], (2, 1), (0, 1), "float64", "cpu:0")
shifted(3, (), None, float, forerun.cpu())
