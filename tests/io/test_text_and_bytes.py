"""Texts and plain bytes as files: savetxt, loadtxt, genfromtxt, tofile, fromfile."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from forerun import np


class TestText:
    @pytest.mark.parametrize("name", ["x", "x.gz", "x.bz2", "x.xz"])
    def test_texts(self, name: str, tmp_path: Path) -> None:
        x = numpy.arange(6.0).reshape(2, 3) / 4
        np.savetxt(tmp_path / name, np.array(x), fmt="%.3f", delimiter=",", header="a,b", wait=False)
        found = np.loadtxt(tmp_path / name, delimiter=",")
        assert found.dtype == "float32"
        assert found.tolist() == x.tolist() == numpy.loadtxt(tmp_path / name, delimiter=",").tolist()
        columns = np.loadtxt(tmp_path / name, "float64", delimiter=",", unpack=True)
        assert columns.tolist() == x.T.tolist()
        assert np.genfromtxt(tmp_path / name, delimiter=",").tolist() == x.tolist()

    def test_errors_are_numpys(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_text("1 2\n3")
        for read in (np.loadtxt, np.genfromtxt):
            with pytest.raises(ValueError, match="column"):
                read(tmp_path / "x")
        with pytest.raises(TypeError, match="dtype"):
            np.loadtxt(tmp_path / "x", dtype=str)
        with pytest.raises(ValueError, match="savetxt: array must have one or two axes"):
            np.savetxt(tmp_path / "y", np.ones((1, 1, 1)), wait=False)
        with pytest.raises(ValueError, match="fmt"):
            np.savetxt(tmp_path / "y", np.ones((1, 2)), fmt="%d %d %d")
        assert not (tmp_path / "y").exists()

    @pytest.mark.parametrize("dtype", ["<i2", ">f8", "?"])
    def test_bytes(self, dtype: str, tmp_path: Path) -> None:
        x = numpy.arange(12).reshape(3, 4).astype(dtype)
        np.array(x).T.tofile(tmp_path / "x")
        assert (tmp_path / "x").read_bytes() == x.T.astype(x.dtype.newbyteorder("=")).tobytes()
        x.tofile(tmp_path / "x")
        for more in ({}, {"count": 3}, {"offset": 2 * x.itemsize}, {"count": 99}, {"offset": x.nbytes}, {"offset": 3}):
            expected = numpy.fromfile(tmp_path / "x", dtype, **more)
            result = np.fromfile(tmp_path / "x", dtype, **more)
            assert (result.tolist(), result.dtype) == (expected.tolist(), expected.dtype.newbyteorder("="))
        for offset in (-1, x.nbytes + 1):
            with pytest.raises(ValueError, match="offset must be within the file"):
                np.fromfile(tmp_path / "x", dtype, offset=offset)

    def test_bytes_of_open_files_and_text(self, tmp_path: Path) -> None:
        np.arange(3).tofile(tmp_path / "x", sep=";", format="<%s>")
        assert (tmp_path / "x").read_text() == "<0>;<1>;<2>"
        np.array([1.5, 2]).tofile(tmp_path / "y", sep=" ")
        assert np.fromfile(tmp_path / "y", sep=" ").tolist() == [1.5, 2.0]
        with open(tmp_path / "z", "wb") as file:
            np.arange(3).tofile(file)
        with open(tmp_path / "z", "rb") as file:
            assert np.fromfile(file, "i8").tolist() == [0, 1, 2]
