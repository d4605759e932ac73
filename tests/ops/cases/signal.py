"""Samples of functions, and Fourier transforms."""

import numpy

from tests.ops.cases.table import Case, Draw, Options, row

A = (0,)
AB = (0, 1)
ABC = (0, 1, 2)
NUMBERS = "iufc"
SIZES = [(6, 3), (6, 4), (2, 5), (3, 6), (4, 4), (1, 1)]
MODES = [lambda x, n=n, k=k, mode=mode: (x(n), x(k), mode) for mode in ("full", "same", "valid") for n, k in SIZES]


def rising(x, n):
    """Positions that rise."""
    return numpy.cumsum(0.25 + abs(x(n))).astype(x.dtype)


SAMPLES: list[Case] = [
    row("np.convolve", lambda x: (x(5), x(3)), *MODES, dtypes=NUMBERS, grad=AB, tolerance=16),
    row("np.correlate", lambda x: (x(5), x(3)), *MODES, dtypes=NUMBERS, grad=AB, tolerance=16),
    row("np.interp", lambda x: (x(3, 4, high=9), rising(x, 7), x(7)), lambda x: (x(), rising(x, 3), x(3)),
        lambda x: (x(9, high=9), rising(x, 4), x(4), -5.0, 7.0), lambda x: (x(4), rising(x, 1), x(1)),
        lambda x: (x(9), x.order(5), x(5), Options(period=1.5)), grad=ABC, tolerance=32),
    row("np.sinc", lambda x: (x(3, 4),), dtypes="biuhfc", grad=A, tolerance=8),
    row("np.ediff1d", lambda x: (x(3, 4),), lambda x: (x(4), x(2), x(1)), lambda x: (x(4), x.dtype.type(1)),
        dtypes=NUMBERS, grad=A),
    row("np.trapezoid", lambda x: (x(3, 4),), lambda x: (x(3, 4), rising(x, 3), 1.0, 0),
        lambda x: (x(3, 4), x(3, 4)), lambda x: (x(3, 4), None, 0.5, 0), dtypes="fc", grad=AB, tolerance=16),
    row("np.gradient", lambda x: (x(5),), lambda x: (x(3, 4),), lambda x: (x(3, 4), 2.0),
        lambda x: (x(3, 4), 0.5, rising(x, 4)), lambda x: (x(3, 4), rising(x, 4), Options(axis=1)),
        lambda x: (x(3, 4), 2.0, Options(edge_order=2)), lambda x: (x(2),),
        lambda x: (x(5), rising(x, 5), Options(edge_order=2)), lambda x: (x(2), rising(x, 2)),
        lambda x: (x(2, 3, 4), 1.0, rising(x, 2), Options(axis=(2, 0))), grad=A, tolerance=64),
    row("np.cross", lambda x: (x(3), x(3)), lambda x: (x(2, 3), x(3)), lambda x: (x(3, 4), x(4, 3), 0, 1, 0),
        lambda x: (x(4, 3, 2), x(1, 3, 2), Options(axis=1)), dtypes=NUMBERS, grad=AB, tolerance=8),
    row("np.matvec", lambda x: (x(3, 4), x(4)), lambda x: (x(2, 3, 4), x(5, 1, 4)), dtypes=NUMBERS, grad=AB,
        tolerance=16, reference=lambda a, b: (a @ b[..., None])[..., 0]),
    row("np.vecmat", lambda x: (x(3), x(3, 4)), lambda x: (x(2, 3), x(5, 1, 3, 4)), dtypes=NUMBERS, grad=AB,
        tolerance=16, reference=lambda a, b: (a.conj()[..., None, :] @ b)[..., 0, :]),
]  # fmt: skip

LINES = [
    lambda x: (x(3, 5),),
    lambda x: (x(3, 4), 6),
    lambda x: (x(3, 5), 4),
    lambda x: (x(4, 2), None, 0),
    lambda x: (x(3, 5), 3, 1, "ortho"),
    lambda x: (x(6), None, -1, "forward"),
    lambda x: (x(1),),
]
PLANES = [
    lambda x: (x(2, 3, 4),),
    lambda x: (x(3, 4), (4, 3), (-2, -1)),
    lambda x: (x(2, 3, 4), None, (0, 1)),
    lambda x: (x(3, 4), (2, -1), (0, 1), "ortho"),
    lambda x: (x(3, 5), None, (1, 0), "forward"),
]


def longer(samples):
    """Without samples of one element: they are not the half of any spectrum."""
    return [s for s in samples if s(Draw(numpy.random.default_rng(0), numpy.dtype("f4")))[0].shape != (1,)]


def fourier(name, *samples, dtypes="fc"):
    """A row for a transform."""
    return row(f"np.fft.{name}", *samples, dtypes=dtypes, grad=A, tolerance=32)


FOURIER: list[Case] = [
    fourier("fft", *LINES, dtypes="biufc"),
    fourier("ifft", *LINES),
    fourier("rfft", *LINES, dtypes="biuf"),
    fourier("irfft", *longer(LINES)),
    fourier("hfft", *longer(LINES)),
    fourier("ihfft", *LINES, dtypes="biuf"),
    fourier("fft2", *PLANES),
    fourier("ifft2", *PLANES),
    fourier("rfft2", *PLANES, dtypes="f"),
    fourier("irfft2", *PLANES),
    fourier("fftn", *PLANES, lambda x: (x(2, 3), None, ())),
    fourier("ifftn", *PLANES),
    fourier("rfftn", *PLANES, dtypes="f"),
    fourier("irfftn", *PLANES),
    row("np.fft.fftfreq", lambda x: (5, 0.5), lambda x: (4,), tolerance=1),
    row("np.fft.rfftfreq", lambda x: (5, 0.5), lambda x: (4,), tolerance=1),
    row(
        "np.fft.fftshift",
        lambda x: (x(3, 4),),
        lambda x: (x(3, 4), 1),
        lambda x: (x(5, 2, 3), (0, 2)),
        grad=A,
    ),
    row(
        "np.fft.ifftshift",
        lambda x: (x(3, 4),),
        lambda x: (x(3, 4), 1),
        lambda x: (x(5, 2, 3), (0, 2)),
        grad=A,
    ),
]

ROWS = SAMPLES + FOURIER
