"""einops: its functions, and those of its array API module."""

from __future__ import annotations

from typing import Any

import einops
import einops.array_api
import numpy

VERSIONS = ["einops"]


def names(asarray: Any) -> dict[str, Any]:
    """A table, and a stack of pictures."""
    table = asarray(numpy.arange(24.0).reshape(4, 6) % 7)
    pictures = asarray(numpy.arange(96.0).reshape(2, 6, 4, 2) % 11)
    return {"einops": einops, "numpy": numpy, "x": table, "pictures": pictures}


ROWS = {
    "einops": """
        einops.rearrange(x, "i j -> j i")
        einops.rearrange(pictures, "b (h h2) (w w2) c -> (b c) (h2 w2) h w", h2=3, w2=2)
        einops.rearrange([x, x], "n i j -> i (n j)")
        einops.reduce(pictures, "b h w c -> b c", "mean")
        einops.reduce(x, "i (j k) -> i j", "max", k=2)
        einops.reduce(pictures, "b h w c -> h w", "prod")
        einops.reduce(x > 2, "i j -> i", "any")
        einops.reduce(x, "i j -> 1 j", lambda part, axes: part.sum(axes, keepdims=False))
        einops.repeat(x, "i j -> i j k", k=3)
        einops.repeat(x, "i j -> (i two) j", two=2)
        einops.einsum(x, x, "i j, k j -> i k")
        einops.pack([x, x[:, 0]], "i *")[0]
        einops.unpack(x, [(2,), (4,)], "i *")
        einops.parse_shape(x, "i j")
        einops.asnumpy(x)
    """,
    "einops.array_api": """
        einops.array_api.rearrange(x, "i j -> j i")
        einops.array_api.reduce(pictures, "b h w c -> b c", "mean")
        einops.array_api.repeat(x, "i j -> i j k", k=3)
        einops.array_api.pack([x, x[:, 0]], "i *")[0]
        einops.array_api.unpack(x, [(2,), (4,)], "i *")
        einops.array_api.asnumpy(x)
    """,
}
