"""Makes the files of this folder with MXNet 1.9.1, which needs Python 3.8 to 3.11 and NumPy before 1.24.

    python make.py

`old` is put together here, in the two layouts that came before, and MXNet must read it.
"""

import struct
from pathlib import Path

import numpy

for name in ("bool", "int", "float", "object", "complex", "str"):  # names that MXNet takes from NumPy
    vars(numpy).setdefault(name, __builtins__.__dict__[name])

import mxnet as mx  # noqa: E402
from mxnet.gluon import nn  # noqa: E402

HERE = Path(__file__).parent
DTYPES = ("float32", "float64", "float16", "uint8", "int32", "int8", "int64")


def counted_net():
    """Two layers, one with running statistics, whose parameters are counted through."""
    made = nn.HybridSequential()
    made.add(nn.Dense(3, in_units=2), nn.BatchNorm(in_channels=3), nn.Dense(1, in_units=3))
    made.initialize()
    for i, parameter in enumerate(made.collect_params().values()):
        n = int(numpy.prod(parameter.shape))
        parameter.set_data(mx.nd.arange(n).reshape(parameter.shape) + 10 * i)
    return made


def old():
    """A list of two arrays: the first layout (extents of four bytes), and the second (a mark, extents of eight)."""
    place, floats = struct.pack("<iii", 1, 0, 0), numpy.arange(6, dtype="<f4").tobytes()
    first = struct.pack("<III", 2, 2, 3) + place + floats
    second = struct.pack("<IIqq", 0xF993FAC8, 2, 3, 2) + place + floats
    names = b"".join(struct.pack("<Q", len(name)) + name for name in (b"first", b"second"))
    return struct.pack("<QQQ", 0x112, 0, 2) + first + second + struct.pack("<Q", 2) + names


def main():
    made = counted_net()
    made.save_parameters(str(HERE / "net.params"))
    made.hybridize()
    made(mx.nd.ones((1, 2)))
    made.export(str(HERE / "exported"))
    (HERE / "exported-symbol.json").unlink()
    mx.nd.save(str(HERE / "list.params"), [mx.nd.arange(3), mx.nd.ones((2, 2))])
    mx.nd.save(str(HERE / "dtypes.params"), {d: mx.nd.array([[1, 2, 3]], dtype=d) for d in DTYPES})
    sparse = mx.nd.array([[0, 0], [1, 2]])
    for kind in ("row_sparse", "csr"):
        x = sparse.tostype(kind)
        x.wait_to_read()  # `save` writes the number of stored rows before it waits
        mx.nd.save(str(HERE / f"{kind}.params"), {"x": x})
    (HERE / "old.params").write_bytes(old())
    found = mx.nd.load(str(HERE / "old.params"))
    assert (found["first"].asnumpy().ravel() == found["second"].asnumpy().ravel()).all()
    mx.npx.set_np()
    bools = mx.np.array([True, False], dtype="bool")
    arrays = {"scalar": mx.np.array(3.5), "empty": mx.np.zeros((2, 0)), "bools": bools}
    mx.npx.save(str(HERE / "numpy.params"), arrays)


main()
