"""Chaos in one dimension, in Fourier space, with an exponential integrator of second order."""

import numpy as np

SIZES = {"tiny": 32, "small": 128, "medium": 16_384}


def main(n):
    length, dt = 2 * np.pi * max(4, n / 32), 0.05
    x = length * np.arange(n) / n
    u = np.cos(2 * np.pi * x / length * 4) * (1 + np.sin(2 * np.pi * x / length * 2))
    k = np.fft.rfftfreq(n, length / n / (2 * np.pi))
    linear = k**2 - k**4
    e = np.exp(dt * linear)
    safe = np.where(np.abs(linear) < 1e-12, 1.0, linear)
    f = np.where(np.abs(linear) < 1e-12, dt, (e - 1) / safe)
    v = np.fft.rfft(u)
    quiet = k < 2 / 3 * k.max()
    last = None
    for _ in range(60):
        nonlinear = -0.5j * k * np.fft.rfft(np.fft.irfft(v, n) ** 2) * quiet
        v = e * v + f * (nonlinear if last is None else 1.5 * nonlinear - 0.5 * last)
        last = nonlinear
    u = np.fft.irfft(v, n)
    print("range %.5f %.5f" % (u.min(), u.max()))
    print("energy %.6f" % (u**2).mean())
    print("dtype", v.dtype, u.dtype, v.shape == (n // 2 + 1,))
