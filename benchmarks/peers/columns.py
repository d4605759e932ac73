"""The columns of the table: the library, and the virtual environment in which it is installed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Venv:
    """Requirements to install, and the Pythons to install them for; none named: the one that runs this."""

    requirements: tuple[str, ...]
    pythons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Column:
    """`factory`: "module:Class" of the folder `libraries`; `venv`: one of VENVS, or none for the caller's."""

    name: str
    title: str
    factory: str
    venv: str | None


VENVS = {
    "numpy": Venv(("numpy",)),
    "torch": Venv(("torch==2.13.0", "numpy")),
    "jax": Venv(("jax",)),
    "mlx": Venv(("mlx", "mlx-cpu", "numpy")),
    "numexpr": Venv(("numexpr", "numpy")),
    "mxnet": Venv(("mxnet==1.9.1", "numpy==1.23.5"), ("python3.11", "python3.10")),
}

FORERUN = [
    Column("forerun", "forerun", "with_gluon:Forerun", None),
    Column("hybrid", "hybridized", "with_gluon:Hybrid", None),
    Column("whole", "whole step", "with_gluon:WholeStep", None),
]
PEERS = [
    Column("numpy", "NumPy", "with_numpy:NumPy", "numpy"),
    Column("torch", "PyTorch", "with_torch:Eager", "torch"),
    Column("torch-compile", "torch.compile", "with_torch:Compiled", "torch"),
    Column("jax", "JAX", "with_jax:Eager", "jax"),
    Column("jax-jit", "jax.jit", "with_jax:Jit", "jax"),
    Column("mlx", "MLX", "with_mlx:MLX", "mlx"),
    Column("numexpr", "numexpr", "with_numexpr:Numexpr", "numexpr"),
    Column("mxnet", "MXNet", "with_gluon:MXNet", "mxnet"),
]
