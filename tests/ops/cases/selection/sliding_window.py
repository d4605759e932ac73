"""Windows that slide along axes."""

from tests.ops.cases.table import ALL, Case, Options, row

A = (0,)

ROWS: list[Case] = [
    row(
        "np.lib.stride_tricks.sliding_window_view",
        lambda x: (x(5), 3), lambda x: (x(4, 5), (2, 3)), lambda x: (x(4, 5), 2, -1),
        lambda x: (x(5, 2), (3, 2), (0, 0)), lambda x: (x(3, 4), Options(window_shape=(3, 1))), lambda x: (x(3), 1),
        dtypes=ALL, grad=A,
    ),
]  # fmt: skip
