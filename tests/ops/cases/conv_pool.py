"""Convolution and pooling, beside plain loops."""

from tests.ops.cases.table import Case, Options, row
from tests.support.comparison import conv_pool_reference

A = (0,)

ROWS: list[Case] = [
    row("npx.convolution",
        lambda x: (x(2, 3, 5), x(4, 3, 2), x(4)),
        lambda x: (x(2, 4, 5, 4), x(2, 2, 3, 2), Options(stride=(2, 1), pad=(1, 0), num_group=2)),
        lambda x: (x(1, 2, 5), x(2, 2, 2), x(2), Options(dilate=2, pad=1)),
        lambda x: (x(1, 2, 3, 3, 2), x(1, 2, 2, 2, 1), x(1)),
        grad=(0, 1, 2), tolerance=64, reference=conv_pool_reference.convolution),
    row("npx.deconvolution",
        lambda x: (x(2, 3, 4), x(3, 2, 2)),
        lambda x: (x(2, 4, 3, 2), x(4, 1, 3, 2), Options(stride=(2, 1), pad=(1, 0), adj=(1, 0), num_group=2)),
        lambda x: (x(1, 2, 3), x(2, 2, 2), x(2), Options(dilate=2, stride=3, no_bias=False)),
        lambda x: (x(1, 2, 2, 2, 2), x(2, 1, 2, 2, 1)),
        grad=(0, 1), tolerance=64, reference=conv_pool_reference.deconvolution),
    row("npx.pooling",
        lambda x: (x.order(2, 2, 6), 2, "max", Options(stride=2)),
        lambda x: (x.order(2, 2, 5, 4), (3, 2), "max", Options(stride=(1, 2), pad=1)),
        lambda x: (x(2, 2, 5, 4), (2, 3), "avg", Options(stride=2, pad=1, pooling_convention="full")),
        lambda x: (x(2, 2, 5), 3, "avg", Options(stride=2, pad=1, count_include_pad=False)),
        lambda x: (x(2, 1, 3, 2, 3), 2, "sum"),
        lambda x: (x(2, 2, 5), 2, "lp", Options(stride=2, p_value=3)),
        lambda x: (x.order(2, 2, 3, 2), None, "max", True),
        lambda x: (x(2, 2, 3, 2), None, "lp", True),
        grad=A, tolerance=16, reference=conv_pool_reference.pooling),
]  # fmt: skip
