"""A card may die, or have too little memory. The processor, and other cards, go on."""

from __future__ import annotations

import re

import pytest

from tests.support.device_plugins.far_device import lines_with_fake_gpu


def test_arrays_of_a_failed_device_raise() -> None:
    program = """
x, y, z = np.ones(4, device=gpu), np.ones(4, device=other), np.ones(4)
before = np.exp(x)
forerun.waitall()
fake.fake_gpu_die(0)
print(outcome(lambda: x.numpy()), outcome(lambda: print(before)), outcome(lambda: x.sum().item()), sep="\\n")
print(outcome(lambda: (x + 1).wait()), outcome(lambda: x.copyto(other).numpy()), sep="\\n")
print(outcome(lambda: x.__iadd__(1).wait()))
print(outcome(lambda: np.arange(3.0, device=gpu).wait()), outcome(lambda: z.copyto(gpu).wait()), sep="\\n")
with gpu:
    print(outcome(lambda: np.linalg.inv(np.eye(3)).wait()))
print((y + 1).sum(), (z + 1).sum(), y.copyto(forerun.cpu(0)).sum(), z.copyto(other).sum())
"""
    *errors, last = lines_with_fake_gpu(program)
    assert len(errors) == 9
    for error in errors:
        assert error.startswith("RuntimeError: "), error
        assert error.endswith("fake_gpu: the device was lost"), error
    assert last == "8.0 8.0 4.0 4.0"


def test_a_loop_on_a_failed_device_raises_with_its_line() -> None:
    program = """
x = np.ones(4, device=gpu)
x.wait()
fake.fake_gpu_die(0)
for _ in range(1000):
    x = x * 1.5
try:
    x.wait()
except RuntimeError as error:
    print(*str(error).splitlines(), *getattr(error, "__notes__", []), sep="\\n")
"""
    found = lines_with_fake_gpu(program)
    assert found[0].endswith("fake_gpu: the device was lost")
    assert re.fullmatch(r"issued at <string>:\d+", found[1]), found


@pytest.mark.parametrize(
    ("settings", "call"),
    [
        ({"fail_compile": 2}, "this compilation was to fail"),
        ({"fail_execute": 3}, "this execution was to fail"),
        ({"fail_execute": 3, "fail_later": 1}, "this execution was to fail"),
    ],
    ids=["compile", "execute", "execute later"],
)
def test_one_call_that_fails_poisons_its_results_alone(settings: dict[str, int], call: str) -> None:
    program = """
x = np.full(4, 2.0, device=gpu)
y = np.exp(x)
for array in (y, x, y):
    try:
        array.wait()
    except RuntimeError as error:
        print(error, *error.__notes__[:1], sep="; ")
print(np.full(4, 2.0, device=gpu).sum(), (np.ones(2) + 1).sum())
"""
    *errors, last = lines_with_fake_gpu(program, **settings)
    assert len(errors) == 3
    assert len(set(errors)) == 1
    assert re.fullmatch(rf"full: fake_gpu: {call}; issued at <string>:\d+", errors[0]), errors
    assert last == "8.0 4.0"


@pytest.mark.parametrize("later", [0, 1])
def test_a_program_writes_an_array_whose_operation_has_failed(later: int) -> None:
    """The eighth execution fails: the array has no memory that a result could take, or a buffer with an error."""
    program = """
step = forerun.hybrid(lambda x, out: np.multiply(x, x, out=out).sum())
x, out = np.full(3, 2.0, device=gpu), np.full(3, 1.0, device=gpu)
for _ in range(2):
    step(x, out).wait()
out = np.full(3, 5.0, device=gpu)
print(outcome(out.wait))
print(step(x, out).item(), out.tolist())
"""
    failed, done = lines_with_fake_gpu(program, fail_execute=8, fail_later=later)
    assert failed == "RuntimeError: full: fake_gpu: this execution was to fail"
    assert done == "12.0 [4.0, 4.0, 4.0]"


class TestMemory:
    """The fake has 1 MB for both devices together; forerun lets each have nine tenths of it."""

    def test_an_array_that_cannot_fit(self) -> None:
        program = (
            "print(outcome(lambda: np.ones((1000, 1000), device=gpu).wait()))\nprint(np.ones(3, device=gpu).sum())"
        )
        error, last = lines_with_fake_gpu(program, bytes=1_000_000)
        asked = "asked for 3.8 MiB with 0 bytes live and a limit of 879 KiB"
        assert error == f"MemoryError: ones: array must fit into memory, {asked}"
        assert last == "3.0"

    def test_a_loop_that_would_pile_up_arrays_waits_for_memory(self) -> None:
        program = """
total = np.zeros((), device=gpu)
for i in range(100):
    total = total + np.full((50_000,), i, dtype="float32", device=gpu).sum()
print(total.item(), forerun.memory(gpu)["peak"] <= 900_000)
"""
        assert lines_with_fake_gpu(program, bytes=1_000_000) == ["247500000.0 True"]

    def test_a_program_writes_into_the_memory_of_the_values_before(self) -> None:
        """Four such arrays fit into the memory, and five do not."""
        program = """
x, a, b = (np.ones((100_000,), device=gpu) for _ in range(3))
def step(x, a, b):
    np.multiply(x, 3, out=a)
    np.add(x, 1, out=b)
    return a[:2].sum() + b[:2].sum()
step = forerun.hybrid(step)
for _ in range(5):
    print(outcome(step(x, a, b).item))
"""
        assert lines_with_fake_gpu(program, bytes=1_900_000) == ["10.0"] * 5

    def test_memory_of_other_arrays(self) -> None:
        """An operation that the plugin refuses is tried again as the oldest one, and then fails with the bytes."""
        program = """
a = np.ones((160_000,), device=gpu)
a.wait()
b = np.ones((160_000,), device=other)
c = b * 2
print(outcome(b.wait), outcome(c.wait), sep="\\n")
print(np.ones(3, device=other).sum(), a[:3].sum())
del a, b, c
print(np.ones((160_000,), device=other).sum())
"""
        first, second, middle, last = lines_with_fake_gpu(program, bytes=1_000_000)
        text = "MemoryError: memory: the device must have memory for the operation, asked for 640000 bytes"
        assert first.startswith(text)
        assert second.startswith(text)
        assert (middle, last) == ("3.0 3.0", "160000.0")
