"""A time axis, from seconds to pixels, with round numbers of milliseconds under it; times and counts in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .svg import FAINT, QUIET, element, text

__all__ = ["Axis", "counted", "milliseconds"]


def milliseconds(seconds: float) -> str:
    """Return a duration in milliseconds, with three significant digits.

    >>> milliseconds(0.0123456), milliseconds(0.00000123), milliseconds(12.3)
    ('12.3 ms', '0.001 ms', '12,300 ms')
    """
    ms = seconds * 1e3
    digits = 0 if ms >= 100 else 1 if ms >= 10 else 2 if ms >= 1 else 3
    return f"{ms:,.{digits}f} ms"


def counted(n: int, noun: str) -> str:
    """Return a number of things.

    >>> counted(1, "wait"), counted(1200, "op")
    ('1 wait', '1,200 ops')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


@dataclass(frozen=True, slots=True)
class Axis:
    """Where a time lies in the picture: `span` seconds from `start` take `width` pixels from `left`."""

    start: float
    span: float
    left: float
    width: float

    def x(self, time: float) -> float:
        """Return the place of a time, in pixels."""
        return self.left + (time - self.start) / (self.span or 1e-9) * self.width

    def step(self) -> float:
        """Return milliseconds between two ticks: 1, 2 or 5 times a power of ten, ticks about 110 pixels apart."""
        rough = max(self.span, 1e-9) * 1e3 * 110 / self.width
        power = 10.0 ** math.floor(math.log10(rough))
        return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)

    def drawn(self, top: float, bottom: float) -> list[str]:
        """Return lines across the lanes, and their times below."""
        step = self.step()
        digits = max(0, -math.floor(math.log10(step)))
        parts = []
        for n in range(math.floor(self.span * 1e3 / step + 1e-6) + 1):
            at = self.x(self.start + n * step / 1e3)
            parts.append(element("line", x1=at, x2=at, y1=top, y2=bottom, stroke=FAINT))
            parts.append(text(at, bottom + 16, f"{n * step:,.{digits}f}", 11, QUIET, text_anchor="middle"))
        parts.append(text(self.left - 24, bottom + 16, "ms since the first op", 11, QUIET, text_anchor="end"))
        return parts
