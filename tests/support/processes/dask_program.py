"""Dask Array with forerun's chunks on two worker processes: prints the result of each case, as JSON.

    python -m tests.support.processes.dask_program FOLDER

It runs by itself, as workers are processes that import it, and so that nothing of Dask's is left behind.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import numpy
from distributed import Client, LocalCluster

from forerun import np

VALUES = numpy.random.default_rng(3).normal(size=(64, 48))


def chunks() -> Any:
    """The values in nine chunks, which forerun makes of NumPy's."""
    return da.from_array(VALUES, chunks=(24, 16)).map_blocks(np.asarray)


CASES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "element-wise": (lambda x: da.exp(-x * 2) + x, lambda v: numpy.exp(-v * 2) + v),
    "select": (lambda x: da.where(x > 0, x, 0.0), lambda v: numpy.where(v > 0, v, 0.0)),
    "sum": (lambda x: x.sum(axis=0), lambda v: v.sum(axis=0)),
    "mean": (lambda x: x.mean(), lambda v: v.mean()),
    "std": (lambda x: x.std(axis=1), lambda v: v.std(axis=1)),
    "argmax": (lambda x: x.argmax(axis=1), lambda v: v.argmax(axis=1)),
    "matmul": (lambda x: x @ x.T, lambda v: v @ v.T),
    "tensordot": (lambda x: da.tensordot(x, x, axes=((0,), (0,))), lambda v: v.T @ v),
    "slices": (lambda x: x[5:40, ::3], lambda v: v[5:40, ::3]),
    "list of rows": (lambda x: x[[0, 40, 3]], lambda v: v[[0, 40, 3]]),
    "map_blocks": (lambda x: x.map_blocks(np.tanh), numpy.tanh),
    "rechunk": (lambda x: x.rechunk((64, 4)) * 1.0, lambda v: v),
    "transpose": (lambda x: x.T + 1, lambda v: v.T + 1),
}


def stored_in_files(x: Any, folder: str) -> dict[str, Any]:
    """Through files: Zarr, and a stack of npy files."""
    x.to_zarr(f"{folder}/x.zarr")
    da.to_npy_stack(f"{folder}/stack", x.rechunk((16, 48)), axis=0)
    found = {"zarr": da.from_zarr(f"{folder}/x.zarr"), "npy stack": da.from_npy_stack(f"{folder}/stack")}
    return {name: y.map_blocks(np.asarray) for name, y in found.items()}


def singular(chunk: Any) -> Any:
    """Fail when it is computed, not when it is issued."""
    return np.linalg.inv(chunk[:16, :16] * 0)


def moved(client: Client, x: Any) -> dict[str, Any]:
    """Return the kinds of chunks that workers have, and how often one sent some to the other."""
    kept = x.persist()
    total = (kept + kept[::-1, ::-1]).sum().compute()  # chunks meet those of the other corner
    kinds = client.run(lambda dask_worker: sorted({type(v).__module__ for v in dask_worker.data.values()}))
    sent = client.run(lambda dask_worker: sum(log["keys"] != {} for log in dask_worker.transfer_outgoing_log))
    return {"kinds": sorted({k for row in kinds.values() for k in row}), "sent": sum(sent.values()),
            "total": bool(numpy.isclose(total, 2 * VALUES.sum()))}  # fmt: skip


def failed(x: Any) -> dict[str, Any]:
    """Read a result of a failed chunk, on its own worker or another one."""
    broken = x.rechunk((16, 16)).map_blocks(singular, chunks=(16, 16), dtype="float64")
    found = {}
    for name, y in {"chunk": broken.blocks[0, 0], "sum of all": broken.sum()}.items():
        value = y.compute()
        try:
            found[name] = f"no error, {value}"
        except numpy.linalg.LinAlgError as error:
            found[name] = f"LinAlgError: {error}, {getattr(error, '__notes__', ['no line'])[0]}"
    return found


def main(folder: str) -> None:
    dask.config.set(
        {"distributed.worker.profile.enabled": False, "distributed.admin.system-monitor.gil.enabled": False}
    )
    os.environ["FORERUN_WORKERS"] = "1"
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=folder) as cluster,
        Client(cluster) as client,
    ):
        x = chunks()
        found: dict[str, Any] = {"moved": moved(client, x), "failed": failed(x)}
        names = list(CASES)
        values = dask.compute(*(CASES[name][0](x) for name in names), *(files := stored_in_files(x, folder)).values())
        for name, value in zip([*names, *files], values):
            want = CASES[name][1](VALUES) if name in CASES else VALUES
            found[name] = {
                "kind": type(value).__module__.split(".")[0],
                "right": bool(numpy.allclose(numpy.asarray(value), want, atol=1e-12)),
                "dtype": str(value.dtype) == str(want.dtype),
            }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
