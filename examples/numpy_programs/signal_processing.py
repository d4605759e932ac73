"""A noisy signal: windows, a spectrum, a moving average, and correlation to find an echo."""

import numpy as np

SIZES = {"tiny": 128, "small": 1024, "medium": 262_144}


def main(n):
    rng = np.random.default_rng(31)
    t = np.arange(n) / 1000
    signal = np.sin(2 * np.pi * 50 * t) + 0.5 * np.sin(2 * np.pi * 120 * t) + rng.normal(0, 0.3, n)
    spectrum = np.abs(np.fft.rfft(signal * np.hanning(n)))
    frequency = np.fft.rfftfreq(n, 1 / 1000)
    peaks = np.flatnonzero((spectrum[1:-1] > spectrum[:-2]) & (spectrum[1:-1] > spectrum[2:])) + 1
    best = peaks[np.argsort(spectrum[peaks])[::-1][:2]]
    print("peaks", np.sort(np.round(frequency[best], 1)))
    smooth = np.convolve(signal, np.ones(9) / 9, mode="same")
    print("power %.6f smoothed %.6f" % (np.mean(signal**2), np.mean(smooth**2)))
    delay = n // 10
    echo = np.concatenate([np.zeros(delay), signal[:-delay]]) * 0.6
    f = np.fft.rfft(np.concatenate([signal, np.zeros(n)]))
    g = np.fft.rfft(np.concatenate([echo, np.zeros(n)]))
    print("delay", np.argmax(np.fft.irfft(np.conj(f) * g)), "is", delay)
    crossings = np.where(np.diff(np.signbit(smooth)))[0]
    print("crossings", crossings.size, crossings[:5])
