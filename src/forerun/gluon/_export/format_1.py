"""Names of operations in files of the format "forerun operations 1", and their present names.

That format named an operation, or a class of named tuples, by the module and variable that it was in. Those modules may
be gone: this table stays as it is, but for values that are renamed.
"""

from __future__ import annotations

from ...ops._base.primitive import Elementwise
from ...ops._base.registry import operations

__all__ = ["of_format_1"]

_NAMES = {
    "gluon.rnn.sequence": {"_sequence": "rnn"},
    "ops.arithmetic": {"_op": "reciprocal"},
    "ops.convert": {"cast": "cast", "copy": "copy", "to_device": "to_device"},
    "ops.convolution": {
        "_Plan": "convolution.Plan", "_convolve": "convolution", "_spread": "deconvolution",
        "_weigh": "convolution.backward_weight",
    },
    "ops.decompositions": {
        "QRResult": "linalg.QRResult", "SVDResult": "linalg.SVDResult", "_cholesky": "linalg.cholesky",
        "_qr": "linalg.qr", "_qr_complete": "linalg.qr.complete", "_qr_r": "linalg.qr.r",
        "_qr_raw": "linalg.qr.raw", "_svd": "linalg.svd", "_svd_full": "linalg.svd.full",
        "_svdvals": "linalg.svdvals",
    },
    "ops.diagonals": {"_diagonal": "diagonal", "_on_diagonal": "diagonal.backward"},
    "ops.eigenvalues": {
        "EigResult": "linalg.EigResult", "EighResult": "linalg.EighResult", "_eig": "linalg.eig",
        "_eigh": "linalg.eigh", "_eigvals": "linalg.eigvals", "_eigvalsh": "linalg.eigvalsh",
    },
    "ops.erf": {"_erf": "erf"},
    "ops.exponential": {"_frexp": "frexp", "_modf": "modf"},
    "ops.fourier": {"_fft": "fft.fft", "_irfft": "fft.irfft", "_rfft": "fft.rfft"},
    "ops.host": {"checked": "checked"},
    "ops.indexing": {
        "_embed": "getitem.backward", "_gather": "take", "_gather_along": "take_along_axis",
        "_scatter_along": "take_along_axis.backward", "_scatter_zeros": "take.backward", "_select": "where",
        "_view": "getitem",
    },
    "ops.joining": {"_concatenate": "concatenate", "_pad": "pad", "_split": "split"},
    "ops.leastsquares": {"_lstsq": "linalg.lstsq", "_pinv": "linalg.pinv"},
    "ops.linear": {"_matmul": "matmul"},
    "ops.nans": {"_nanmax": "nanmax", "_nanmin": "nanmin"},
    "ops.nn": {
        "_cross_entropy": "cross_entropy", "_log_softmax": "log_softmax", "_softmax": "softmax",
        "relu": "relu", "sigmoid": "sigmoid",
    },
    "ops.normalization": {
        "_batch_norm": "batch_norm", "_group_norm": "group_norm", "_instance_norm": "instance_norm",
        "_layer_norm": "layer_norm",
    },
    "ops.norms": {"_inv_or_nan": "linalg.cond.inv", "_root": "linalg.norm.root"},
    "ops.pooling": {
        "_at_first": "pooling.max.take", "_largest": "pooling.max", "_to_all": "pooling.sum.backward",
        "_to_first": "pooling.max.backward", "_total": "pooling.sum",
    },
    "ops.reduction": {
        "_max": "max", "_min": "min", "_prod": "prod", "_sum": "sum", "_sum_of_complex": "sum.of_complex",
    },
    "ops.regions": {"_Plan": "roi_align.Plan", "_align": "roi_align", "_align_back": "roi_align.backward"},
    "ops.reparametrised": {"_standard_gamma": "random.standard_gamma"},
    "ops.scans": {"_cumprod": "cumprod", "_cumsum": "cumsum"},
    "ops.sets": {
        "UniqueAll": "UniqueAllResult", "UniqueCounts": "UniqueCountsResult",
        "UniqueInverse": "UniqueInverseResult",
    },
    "ops.shape": {
        "_imag": "imag", "_real": "real", "_reshape": "reshape", "_transpose": "transpose",
        "broadcast_to": "broadcast_to",
    },
    "ops.signal": {"_convolve": "convolve"},
    "ops.solving": {
        "SlogdetResult": "linalg.SlogdetResult", "_det": "linalg.det", "_inv": "linalg.inv",
        "_slogdet": "linalg.slogdet", "_solve": "linalg.solve",
    },
    "ops.special": {"_erfinv": "erfinv", "_gammaln": "gammaln"},
    "ops.strided": {"Windows": "pooling.Windows", "_padded": "pad.last_axes"},
}  # fmt: skip


def of_format_1(name: str) -> str:
    """Return the present name of an operation of the old format; an empty string if it had no operation of that name.

    Element-wise operations were called as NumPy calls them, after any module that used them.

    >>> of_format_1("ops.decompositions._svd"), of_format_1("ops.strided.add"), of_format_1("os.system")
    ('linalg.svd', 'add', '')
    """
    module, _, variable = name.rpartition(".")
    if now := _NAMES.get(module, {}).get(variable):
        return now
    ufunc = variable in operations and isinstance(operations[variable], Elementwise)
    return variable if ufunc and module.startswith("ops.") else ""
