"""array-api-compat: libraries' questions about an array."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy

VERSIONS = ["array-api-compat"]


def names(asarray: Any) -> dict[str, Any]:
    """A matrix, and the namespace that its library is to have."""
    x = asarray(numpy.arange(6.0).reshape(2, 3))
    return {"compat": array_api_compat, "numpy": numpy, "x": x}


ROWS = {
    "namespace": """
        compat.array_namespace(x).sum(x)
        compat.array_namespace(x, 2.0, None, api_version="2024.12").exp(x)
        compat.array_namespace(x, use_compat=False).exp(x)
        compat.is_array_api_obj(x)
        compat.is_writeable_array(x)
        compat.is_lazy_array(x)
    """,
    "devices and sizes": """
        compat.to_device(x, compat.device(x))
        compat.array_namespace(x).zeros((2,), device=compat.device(x))
        compat.size(x)
    """,
}
