"""The base of recurrent cells whose products are convolutions: one step, and the extents of states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ... import npx
from ...ops.nn.conv_windows import LAYOUTS, Windows, channels_last, per_axis
from ..parameter.parameter import Parameter
from .cell import Init, RecurrentCell
from .steps import GATES, STATES, Activation, check_states, rule_of

if TYPE_CHECKING:
    from ...typing import Array, DTypeLike


__all__ = ["ConvolvedCell"]

Numbers = int | tuple[int, ...] | list[int]


class ConvolvedCell(RecurrentCell):
    """The base of convolutional cells; see `Conv2DLSTMCell`. Subclasses give the number of axes and the rule."""

    _axes = 0
    mode = ""

    _automatic = True

    def __init__(
        self, input_shape: Sequence[int], hidden_channels: int, i2h_kernel: Numbers, h2h_kernel: Numbers,
        i2h_pad: Numbers = 0, i2h_dilate: Numbers = 1, h2h_dilate: Numbers = 1, i2h_weight_initializer: Init = None,
        h2h_weight_initializer: Init = None, i2h_bias_initializer: Init = "zeros",
        h2h_bias_initializer: Init = "zeros", conv_layout: str | None = None, activation: Activation = "tanh",
        dtype: DTypeLike = "float32",
    ) -> None:  # fmt: skip
        super().__init__()
        name, n = type(self).__name__, self._axes
        self._layout = conv_layout or LAYOUTS[n]
        self._last = channels_last(name, conv_layout, n)
        if len(input_shape) != n + 1 or hidden_channels < 1:
            shown = f"{tuple(input_shape)} and {hidden_channels} channels"
            raise ValueError(f"{name}: input_shape must have {n + 1} axes, and channels be positive, got {shown}")
        self._input_shape, self._channels = tuple(input_shape), hidden_channels

        def numbers(what: str, value: object, least: int) -> tuple[int, ...]:
            return per_axis(name, what, value, n, least, least)

        kernel, own = numbers("i2h_kernel", i2h_kernel, 1), numbers("h2h_kernel", h2h_kernel, 1)
        if any(k % 2 == 0 for k in own):
            raise ValueError(f"{name}: h2h_kernel must be odd, so that states keep their extents, got {own}")
        wide = numbers("h2h_dilate", h2h_dilate, 1)
        self._of_x: dict[str, Any] = {"pad": numbers("i2h_pad", i2h_pad, 0)}
        self._of_x["dilate"] = numbers("i2h_dilate", i2h_dilate, 1)
        self._of_h: dict[str, Any] = {"pad": tuple(d * (k - 1) // 2 for k, d in zip(own, wide)), "dilate": wide}
        self._extents = self._counts(kernel)
        self._step = rule_of(self.mode, activation, axis=-1 if self._last else 1)
        rows = GATES[self.mode] * hidden_channels
        inputs = self._input_shape[-1 if self._last else 0]

        def new(name: str, shape: tuple[int, ...], init: Any) -> Parameter:
            return Parameter(name, "write", shape, dtype, init=init)

        self.i2h_weight = new("i2h_weight", self._ordered(rows, inputs, kernel), i2h_weight_initializer)
        self.h2h_weight = new("h2h_weight", self._ordered(rows, hidden_channels, own), h2h_weight_initializer)
        self.i2h_bias = new("i2h_bias", (rows,), i2h_bias_initializer)
        self.h2h_bias = new("h2h_bias", (rows,), h2h_bias_initializer)

    def _counts(self, kernel: tuple[int, ...]) -> tuple[int, ...]:
        """Return the extents of states: of the convolution of an input."""
        extents = self._input_shape[:-1] if self._last else self._input_shape[1:]
        whole = [n + 2 * p for n, p in zip(extents, self._of_x["pad"])]
        counts = Windows(kernel, (1,) * self._axes, self._of_x["dilate"]).counts(whole)
        if min(counts) < 1:
            name = type(self).__name__
            raise ValueError(f"{name}: i2h_kernel must fit into the padded input, got {kernel} for {whole}")
        return counts

    def _ordered(self, first: int, channels: int, extents: tuple[int, ...]) -> tuple[int, ...]:
        return (first, *extents, channels) if self._last else (first, channels, *extents)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return shape and layout of each state."""
        shape = self._ordered(batch_size, self._channels, self._extents)
        return [{"shape": shape, "__layout__": self._layout} for _ in range(STATES[self.mode])]

    def forward(self, x: Array, states: Sequence[Array]) -> tuple[Any, list[Any]]:
        """Map x (batch, *input_shape) and the states before to the output and the states after."""
        name = type(self).__name__
        if x.shape[1:] != self._input_shape:
            raise ValueError(f"{name}: inputs must have shape {('batch', *self._input_shape)}, got {x.shape}")
        before = check_states(name, states, [info["shape"] for info in self.state_info(x.shape[0])])
        at, layout = x.device, self._layout
        from_x = npx.convolution(x, self.i2h_weight.data(at), self.i2h_bias.data(at), layout=layout, **self._of_x)
        from_h = npx.convolution(
            before[0], self.h2h_weight.data(at), self.h2h_bias.data(at), layout=layout, **self._of_h
        )
        after = self._step(from_x, from_h, before)
        return after[0], after

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._input_shape} -> {self._channels}, {self._layout})"
