"""Messages from one rank to another: their values, and the errors where a recv does not match its send."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.processes.ranks import lines_of, needs_mpi, run_ranks

# Some travel with their description, in one message, and some behind it.
SHAPES = "[(), (0,), (3,), (2, 3), (1 << 20,), (5,), (1, 511), (1, 513), (1 << 16, 2), (1,) * 9]"
DTYPES = ["bool", "int8", "uint64", "float16", "bfloat16", "float32", "float64", "complex128"]


@needs_mpi
def test_messages_of_all_sizes_and_dtypes_arrive_in_order(tmp_path: Path) -> None:
    found = lines_of(
        tmp_path,
        2,
        f"""
for dtype in {DTYPES}:
    same = []
    for i, shape in enumerate({SHAPES}):
        want = (np.arange(int(np.prod(shape))) % 5 + i).reshape(shape).astype(dtype)
        if dist.rank() == 0:
            dist.send(want, 1)
        else:
            x = dist.recv(shape, dtype, 0)
            same.append(x.shape == shape and str(x.dtype) == dtype and bool((x == want).all()))
    print(dtype, same.count(True))
""",
    )
    assert found[1] == [f"{dtype} 10" for dtype in DTYPES]


def lines_after_a_failure(folder: Path, size: int, program: str) -> list[list[str]]:
    """The lines of each rank, of a program that ends well. Open MPI's launcher notes that MPI was left alone."""
    done = run_ranks(folder, size, program)
    assert done.returncode == 0, done.stderr
    starts = [f"[{rank}] " for rank in range(size)]
    return [
        [line.removeprefix(start) for line in done.stdout.splitlines() if line.startswith(start)] for start in starts
    ]


@needs_mpi
@pytest.mark.parametrize(
    ("sent", "description"),
    [
        ('np.ones(2, "float32")', r"(2,) float32"),
        ('np.ones((2, 2), "float32")', r"(2, 2) float32"),
        ('np.ones(4, "int32")', r"(4,) int32"),
        ('np.ones(4, "float16")', r"(4,) float16"),
        ('np.ones(1 << 22, "float32")', r"(4194304,) float32"),
    ],
)
def test_a_recv_of_something_else_is_an_error_that_names_both_lines(
    tmp_path: Path, sent: str, description: str
) -> None:
    found = lines_after_a_failure(
        tmp_path,
        3,
        f"""
kept = np.ones(3)
if dist.rank() == 0:
    y = dist.recv((4,), "float32", 1)
elif dist.rank() == 1:
    dist.send({sent}, 0)
for first in (True, False):
    try: print((y * 2 if first and dist.rank() == 0 else dist.allreduce(kept)).tolist())
    except dist.RankFailed as error: print(error)
print(kept.tolist())
""",
    )
    wanted = (
        f"recv: shape and dtype must be those of the send, got recv of (4,) float32 at program.py:6 on rank 0; "
        f"send of {description} at program.py:8 on rank 1"
    )
    for lines in found:
        assert len(lines) == 3
        for line in lines[:2]:
            assert wanted in without_folders(line)
        assert lines[2] == "[1.0, 1.0, 1.0]"


def without_folders(line: str) -> str:
    """The line with files' names alone; long ones were cut."""
    return " ".join(word.rpartition("/")[2] for word in line.split(" "))


@needs_mpi
def test_a_recv_of_more_in_the_same_dtype_leaves_no_rank_waiting(tmp_path: Path) -> None:
    """The sender waits for a message of its own, and for nothing else."""
    found = lines_after_a_failure(
        tmp_path,
        2,
        """
other = 1 - dist.rank()
dist.send(np.ones(1 << 20), other)
try: dist.recv((1 << 20,) if dist.rank() else (1 << 21,), source=other).tolist()
except dist.RankFailed as error: print("send of (1048576,) float32" in str(error))
try: dist.recv((1,), source=other).tolist()
except dist.RankFailed as error: print("send of (1048576,) float32" in str(error))
""",
    )
    assert found[0] == ["True", "True"]
    assert found[1][-1] == "True"
