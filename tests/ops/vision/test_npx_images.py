"""Random functions of `npx.image`: ranges of factors and crops, draws in captured programs, colours of integers."""

from typing import Any

import numpy
import pytest
from scipy import stats

import forerun
from forerun import np, npx


@pytest.fixture(autouse=True)
def seeded() -> None:
    npx.random.seed(5)


def test_factors_are_spread_between_their_limits() -> None:
    x = np.ones((1, 1, 3))
    found = numpy.array([npx.image.random_brightness(x, 0.5, 1.5)[0, 0, 0].item() for _ in range(200)])
    assert stats.kstest(found, "uniform", (0.5, 1.0)).pvalue > 1e-3
    flips = [npx.image.random_flip_left_right(np.arange(6).reshape(1, 2, 3), 0.3)[0, 0, 0].item() for _ in range(300)]
    assert set(flips) == {0, 3}
    assert abs(flips.count(3) / 300 - 0.3) < 0.12


def test_crops_reach_every_place_and_lie_in_their_ranges() -> None:
    x = np.arange(4 * 5).reshape(4, 5, 1)
    first = {npx.image.random_crop(x, width=3, height=3)[0, 0, 0].item() for _ in range(100)}
    assert first == {0, 1, 2, 5, 6, 7}
    right = {npx.image.random_crop(x, (1.0, 1.0), (0.0, 0.0), 3, 3)[0, 0, 0].item() for _ in range(20)}
    assert right == {2}
    whole = npx.image.random_resized_crop(x.astype("float32"), 5, 4, area=(1.0, 1.0), ratio=(1.25, 1.25))
    assert whole.tolist() == x.astype("float32").tolist()
    middle = npx.image.random_resized_crop(x.astype("float32"), 2, 4, area=(2.0, 2.0))
    assert middle.tolist() == x[:, 1:3].astype("float32").tolist()


def test_a_traced_function_draws_anew() -> None:
    class Brighter(forerun.gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            return npx.image.random_brightness(npx.image.random_crop(x, width=1, height=1), 0.5, 1.5)

    block = Brighter()
    block.hybridize()
    assert len({block(np.ones((2, 2, 3)))[0, 0, 0].item() for _ in range(5)}) == 5


def test_colours_of_integers_stay_in_range() -> None:
    x = np.array([[[250, 3, 7]]], dtype="uint8")
    assert npx.image.random_brightness(x, 2.0, 2.0).tolist() == [[[255, 6, 14]]]
    assert npx.image.random_contrast(x, 9.0, 9.0).asnumpy()[0, 0].tolist() == [255, 0, 0]
    for _ in range(5):
        assert npx.image.random_color_jitter(x, 0.5, 0.5, 0.5, 0.5).dtype == "uint8"
