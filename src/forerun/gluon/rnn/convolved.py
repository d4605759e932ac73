"""Recurrent cells whose products are convolutions: states are sequences, images or volumes."""

from __future__ import annotations

from .convolved_base import ConvolvedCell

__all__ = [
    "Conv1DRNNCell", "Conv2DRNNCell", "Conv3DRNNCell", "Conv1DLSTMCell", "Conv2DLSTMCell", "Conv3DLSTMCell",
    "Conv1DGRUCell", "Conv2DGRUCell", "Conv3DGRUCell",
]  # fmt: skip


class Conv1DRNNCell(ConvolvedCell):
    """One step of Elman's recurrence on sequences (channels, width), by convolutions.

    The output is the state, too. The parameters are `i2h_weight` (channels, inputs, *i2h_kernel), `h2h_weight`
    (channels, channels, *h2h_kernel), `i2h_bias` and `h2h_bias` (channels,).

    Parameters
    ----------
    input_shape : sequence of int
        The shape of an input without the batch: (channels, width), or with the channels last in the layout "NWC".
    hidden_channels : int
        The channels of the states. Their other extents are those of the convolution of an input.
    i2h_kernel, h2h_kernel : int or tuple of int
        The extents of the kernels of inputs and of states; the latter are odd, as states keep their extents.
    i2h_pad, i2h_dilate, h2h_dilate : int or tuple of int, optional
        Zeros on each side of an input, and the distances between elements under the kernels.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer, optional
        The initializers of the weights of inputs and of states; None for that of the network.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, optional
        The initializers of the biases.
    conv_layout : str, optional
        The layout of inputs and states: "NCW", which is the default, or "NWC".
    activation : str or callable, optional
        The activation of the state: a name of `npx.activation`, or a function.
    dtype : dtype, optional
        The dtype of the parameters.

    Raises
    ------
    ValueError
        For extents, kernels or layouts that do not fit; when called, for inputs and states of other shapes.

    Examples
    --------
    >>> from forerun import np
    >>> cell = Conv1DRNNCell((2, 8), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> y, (h,) = cell.unroll(5, np.ones((2, 5, 2, 8)))
    >>> y.shape, h.shape
    ((2, 5, 4, 8), (2, 4, 8))
    """

    _axes, mode = 1, "rnn"


class Conv1DLSTMCell(ConvolvedCell):
    """One step of a long short-term memory of sequences (channels, width), by convolutions (Shi et al. 2015).

    The states are the output and the cells. The parameters are `i2h_weight` (4 * channels, inputs, *i2h_kernel),
    `h2h_weight` (4 * channels, channels, *h2h_kernel), `i2h_bias` and `h2h_bias` (4 * channels,), for the input,
    forget, new and output gates.

    Parameters
    ----------
    input_shape : sequence of int
        The shape of an input without the batch: (channels, width), or with the channels last in the layout "NWC".
    hidden_channels : int
        The channels of the states. Their other extents are those of the convolution of an input.
    i2h_kernel, h2h_kernel : int or tuple of int
        The extents of the kernels of inputs and of states; the latter are odd, as states keep their extents.
    i2h_pad, i2h_dilate, h2h_dilate : int or tuple of int, optional
        Zeros on each side of an input, and the distances between elements under the kernels.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer, optional
        The initializers of the weights of inputs and of states; None for that of the network.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, optional
        The initializers of the biases.
    conv_layout : str, optional
        The layout of inputs and states: "NCW", which is the default, or "NWC".
    activation : str or callable, optional
        The activation of the new values and of the output: a name of `npx.activation`, or a function.
    dtype : dtype, optional
        The dtype of the parameters.

    Raises
    ------
    ValueError
        For extents, kernels or layouts that do not fit; when called, for inputs and states of other shapes.

    Examples
    --------
    >>> from forerun import np
    >>> cell = Conv1DLSTMCell((2, 8), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> y, (h, c) = cell.unroll(5, np.ones((2, 5, 2, 8)))
    >>> y.shape, c.shape
    ((2, 5, 4, 8), (2, 4, 8))
    """

    _axes, mode = 1, "lstm"


class Conv1DGRUCell(ConvolvedCell):
    """One step of a gated recurrent unit on sequences (channels, width), by convolutions.

    The output is the state, too. The parameters are `i2h_weight` (3 * channels, inputs, *i2h_kernel), `h2h_weight`
    (3 * channels, channels, *h2h_kernel), `i2h_bias` and `h2h_bias` (3 * channels,), for the reset, update and new
    gates.

    Parameters
    ----------
    input_shape : sequence of int
        The shape of an input without the batch: (channels, width), or with the channels last in the layout "NWC".
    hidden_channels : int
        The channels of the states. Their other extents are those of the convolution of an input.
    i2h_kernel, h2h_kernel : int or tuple of int
        The extents of the kernels of inputs and of states; the latter are odd, as states keep their extents.
    i2h_pad, i2h_dilate, h2h_dilate : int or tuple of int, optional
        Zeros on each side of an input, and the distances between elements under the kernels.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer, optional
        The initializers of the weights of inputs and of states; None for that of the network.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, optional
        The initializers of the biases.
    conv_layout : str, optional
        The layout of inputs and states: "NCW", which is the default, or "NWC".
    activation : str or callable, optional
        The activation of the new values: a name of `npx.activation`, or a function.
    dtype : dtype, optional
        The dtype of the parameters.

    Raises
    ------
    ValueError
        For extents, kernels or layouts that do not fit; when called, for inputs and states of other shapes.

    Examples
    --------
    >>> from forerun import np
    >>> cell = Conv1DGRUCell((2, 8), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> y, (h,) = cell.unroll(5, np.ones((2, 5, 2, 8)))
    >>> y.shape, h.shape
    ((2, 5, 4, 8), (2, 4, 8))
    """

    _axes, mode = 1, "gru"


class Conv2DRNNCell(ConvolvedCell):
    """One step of Elman's recurrence on images (channels, height, width), by convolutions.

    The output is the state, too. The parameters are `i2h_weight` (channels, inputs, *i2h_kernel), `h2h_weight`
    (channels, channels, *h2h_kernel), `i2h_bias` and `h2h_bias` (channels,).

    Parameters
    ----------
    input_shape : sequence of int
        The shape of an input without the batch: (channels, height, width), or with the channels last in the layout
        "NHWC".
    hidden_channels : int
        The channels of the states. Their other extents are those of the convolution of an input.
    i2h_kernel, h2h_kernel : int or tuple of int
        The extents of the kernels of inputs and of states; the latter are odd, as states keep their extents.
    i2h_pad, i2h_dilate, h2h_dilate : int or tuple of int, optional
        Zeros on each side of an input, and the distances between elements under the kernels.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer, optional
        The initializers of the weights of inputs and of states; None for that of the network.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, optional
        The initializers of the biases.
    conv_layout : str, optional
        The layout of inputs and states: "NCHW", which is the default, or "NHWC".
    activation : str or callable, optional
        The activation of the state: a name of `npx.activation`, or a function.
    dtype : dtype, optional
        The dtype of the parameters.

    Raises
    ------
    ValueError
        For extents, kernels or layouts that do not fit; when called, for inputs and states of other shapes.

    Examples
    --------
    >>> from forerun import np
    >>> cell = Conv2DRNNCell((3, 8, 8), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> y, (h,) = cell.unroll(5, np.ones((2, 5, 3, 8, 8)))
    >>> y.shape, h.shape
    ((2, 5, 4, 8, 8), (2, 4, 8, 8))
    """

    _axes, mode = 2, "rnn"


class Conv2DLSTMCell(ConvolvedCell):
    """One step of a long short-term memory of images (channels, height, width), by convolutions (Shi et al. 2015).

    The states are the output and the cells. The parameters are `i2h_weight` (4 * channels, inputs, *i2h_kernel),
    `h2h_weight` (4 * channels, channels, *h2h_kernel), `i2h_bias` and `h2h_bias` (4 * channels,), for the input,
    forget, new and output gates.

    Parameters
    ----------
    input_shape : sequence of int
        The shape of an input without the batch: (channels, height, width), or with the channels last in the layout
        "NHWC".
    hidden_channels : int
        The channels of the states. Their other extents are those of the convolution of an input.
    i2h_kernel, h2h_kernel : int or tuple of int
        The extents of the kernels of inputs and of states; the latter are odd, as states keep their extents.
    i2h_pad, i2h_dilate, h2h_dilate : int or tuple of int, optional
        Zeros on each side of an input, and the distances between elements under the kernels.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer, optional
        The initializers of the weights of inputs and of states; None for that of the network.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, optional
        The initializers of the biases.
    conv_layout : str, optional
        The layout of inputs and states: "NCHW", which is the default, or "NHWC".
    activation : str or callable, optional
        The activation of the new values and of the output: a name of `npx.activation`, or a function.
    dtype : dtype, optional
        The dtype of the parameters.

    Raises
    ------
    ValueError
        For extents, kernels or layouts that do not fit; when called, for inputs and states of other shapes.

    Examples
    --------
    >>> from forerun import np
    >>> cell = Conv2DLSTMCell((3, 8, 8), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> y, (h, c) = cell.unroll(5, np.ones((2, 5, 3, 8, 8)))
    >>> y.shape, c.shape
    ((2, 5, 4, 8, 8), (2, 4, 8, 8))
    """

    _axes, mode = 2, "lstm"


class Conv2DGRUCell(ConvolvedCell):
    """One step of a gated recurrent unit on images (channels, height, width), by convolutions.

    The output is the state, too. The parameters are `i2h_weight` (3 * channels, inputs, *i2h_kernel), `h2h_weight`
    (3 * channels, channels, *h2h_kernel), `i2h_bias` and `h2h_bias` (3 * channels,), for the reset, update and new
    gates.

    Parameters
    ----------
    input_shape : sequence of int
        The shape of an input without the batch: (channels, height, width), or with the channels last in the layout
        "NHWC".
    hidden_channels : int
        The channels of the states. Their other extents are those of the convolution of an input.
    i2h_kernel, h2h_kernel : int or tuple of int
        The extents of the kernels of inputs and of states; the latter are odd, as states keep their extents.
    i2h_pad, i2h_dilate, h2h_dilate : int or tuple of int, optional
        Zeros on each side of an input, and the distances between elements under the kernels.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer, optional
        The initializers of the weights of inputs and of states; None for that of the network.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, optional
        The initializers of the biases.
    conv_layout : str, optional
        The layout of inputs and states: "NCHW", which is the default, or "NHWC".
    activation : str or callable, optional
        The activation of the new values: a name of `npx.activation`, or a function.
    dtype : dtype, optional
        The dtype of the parameters.

    Raises
    ------
    ValueError
        For extents, kernels or layouts that do not fit; when called, for inputs and states of other shapes.

    Examples
    --------
    >>> from forerun import np
    >>> cell = Conv2DGRUCell((3, 8, 8), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> y, (h,) = cell.unroll(5, np.ones((2, 5, 3, 8, 8)))
    >>> y.shape, h.shape
    ((2, 5, 4, 8, 8), (2, 4, 8, 8))
    """

    _axes, mode = 2, "gru"


class Conv3DRNNCell(ConvolvedCell):
    """One step of Elman's recurrence on volumes (channels, depth, height, width), by convolutions.

    The output is the state, too. The parameters are `i2h_weight` (channels, inputs, *i2h_kernel), `h2h_weight`
    (channels, channels, *h2h_kernel), `i2h_bias` and `h2h_bias` (channels,).

    Parameters
    ----------
    input_shape : sequence of int
        The shape of an input without the batch: (channels, depth, height, width), or with the channels last in the
        layout "NDHWC".
    hidden_channels : int
        The channels of the states. Their other extents are those of the convolution of an input.
    i2h_kernel, h2h_kernel : int or tuple of int
        The extents of the kernels of inputs and of states; the latter are odd, as states keep their extents.
    i2h_pad, i2h_dilate, h2h_dilate : int or tuple of int, optional
        Zeros on each side of an input, and the distances between elements under the kernels.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer, optional
        The initializers of the weights of inputs and of states; None for that of the network.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, optional
        The initializers of the biases.
    conv_layout : str, optional
        The layout of inputs and states: "NCDHW", which is the default, or "NDHWC".
    activation : str or callable, optional
        The activation of the state: a name of `npx.activation`, or a function.
    dtype : dtype, optional
        The dtype of the parameters.

    Raises
    ------
    ValueError
        For extents, kernels or layouts that do not fit; when called, for inputs and states of other shapes.

    Examples
    --------
    >>> from forerun import np
    >>> cell = Conv3DRNNCell((1, 4, 4, 4), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> y, (h,) = cell.unroll(5, np.ones((2, 5, 1, 4, 4, 4)))
    >>> y.shape, h.shape
    ((2, 5, 4, 4, 4, 4), (2, 4, 4, 4, 4))
    """

    _axes, mode = 3, "rnn"


class Conv3DLSTMCell(ConvolvedCell):
    """One step of a long short-term memory of volumes (channels, depth, height, width), by convolutions.

    The states are the output and the cells. The parameters are `i2h_weight` (4 * channels, inputs, *i2h_kernel),
    `h2h_weight` (4 * channels, channels, *h2h_kernel), `i2h_bias` and `h2h_bias` (4 * channels,), for the input,
    forget, new and output gates.

    Parameters
    ----------
    input_shape : sequence of int
        The shape of an input without the batch: (channels, depth, height, width), or with the channels last in the
        layout "NDHWC".
    hidden_channels : int
        The channels of the states. Their other extents are those of the convolution of an input.
    i2h_kernel, h2h_kernel : int or tuple of int
        The extents of the kernels of inputs and of states; the latter are odd, as states keep their extents.
    i2h_pad, i2h_dilate, h2h_dilate : int or tuple of int, optional
        Zeros on each side of an input, and the distances between elements under the kernels.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer, optional
        The initializers of the weights of inputs and of states; None for that of the network.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, optional
        The initializers of the biases.
    conv_layout : str, optional
        The layout of inputs and states: "NCDHW", which is the default, or "NDHWC".
    activation : str or callable, optional
        The activation of the new values and of the output: a name of `npx.activation`, or a function.
    dtype : dtype, optional
        The dtype of the parameters.

    Raises
    ------
    ValueError
        For extents, kernels or layouts that do not fit; when called, for inputs and states of other shapes.

    Examples
    --------
    >>> from forerun import np
    >>> cell = Conv3DLSTMCell((1, 4, 4, 4), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> y, (h, c) = cell.unroll(5, np.ones((2, 5, 1, 4, 4, 4)))
    >>> y.shape, c.shape
    ((2, 5, 4, 4, 4, 4), (2, 4, 4, 4, 4))
    """

    _axes, mode = 3, "lstm"


class Conv3DGRUCell(ConvolvedCell):
    """One step of a gated recurrent unit on volumes (channels, depth, height, width), by convolutions.

    The output is the state, too. The parameters are `i2h_weight` (3 * channels, inputs, *i2h_kernel), `h2h_weight`
    (3 * channels, channels, *h2h_kernel), `i2h_bias` and `h2h_bias` (3 * channels,), for the reset, update and new
    gates.

    Parameters
    ----------
    input_shape : sequence of int
        The shape of an input without the batch: (channels, depth, height, width), or with the channels last in the
        layout "NDHWC".
    hidden_channels : int
        The channels of the states. Their other extents are those of the convolution of an input.
    i2h_kernel, h2h_kernel : int or tuple of int
        The extents of the kernels of inputs and of states; the latter are odd, as states keep their extents.
    i2h_pad, i2h_dilate, h2h_dilate : int or tuple of int, optional
        Zeros on each side of an input, and the distances between elements under the kernels.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer, optional
        The initializers of the weights of inputs and of states; None for that of the network.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, optional
        The initializers of the biases.
    conv_layout : str, optional
        The layout of inputs and states: "NCDHW", which is the default, or "NDHWC".
    activation : str or callable, optional
        The activation of the new values: a name of `npx.activation`, or a function.
    dtype : dtype, optional
        The dtype of the parameters.

    Raises
    ------
    ValueError
        For extents, kernels or layouts that do not fit; when called, for inputs and states of other shapes.

    Examples
    --------
    >>> from forerun import np
    >>> cell = Conv3DGRUCell((1, 4, 4, 4), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> y, (h,) = cell.unroll(5, np.ones((2, 5, 1, 4, 4, 4)))
    >>> y.shape, h.shape
    ((2, 5, 4, 4, 4, 4), (2, 4, 4, 4, 4))
    """

    _axes, mode = 3, "gru"
