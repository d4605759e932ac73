"""Facts in an op's paragraph besides its loops, for user-defined ops as for the package's."""

import sys

import numpy
import pytest

import forerun
from forerun import _core, np
from forerun._pjrt import accuracy
from forerun._pjrt.kinds.elementwise import loops
from forerun.extend import elementwise
from forerun.ops.elementwise import arithmetic
from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import counts


def total(op, x):
    """Return the combination of elements by the op's own loop, in x's dtype."""
    return _core.reduce(op, x, [0], x.dtype).item()


def test_narrow_floats_are_combined_in_a_wider_dtype():
    ones = np.ones(4096, dtype="float16")
    narrow = elementwise(numpy.hypot, name="narrow", doc="The length.")
    wide = elementwise(numpy.hypot, name="wide", accumulate_in="float32", doc="The length.")
    assert total(narrow, ones) <= 32  # beyond, one more does not change a float16
    assert total(wide, ones) == 64
    assert total(wide, ones.astype("float32")) == pytest.approx(64)  # as wide already
    assert wide(ones, ones).dtype == "float16"  # of elements alone nothing changes


@pytest.mark.parametrize(
    ("ufunc", "neutral"),
    [(numpy.add, 0), (numpy.multiply, 1), (numpy.maximum, "lowest"), (numpy.minimum, "highest")],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "uint8", "complex64"])
def test_a_neutral_element_changes_no_result(ufunc, neutral, dtype):
    values = (numpy.arange(5000) % 7 - (0 if dtype == "uint8" else 3)).astype(dtype)
    values[values == 0] = 1
    if ufunc is numpy.multiply:
        values = numpy.abs(values) // values.real.clip(1).astype(dtype) if "complex" not in dtype else values[:20]
    if ufunc is numpy.add and dtype == "uint8":
        values = values[:30]
    x = np.array(values)
    op = elementwise(ufunc, name=f"own_{ufunc.__name__}", neutral=neutral, doc="Combines.")
    plain = elementwise(ufunc, name=f"plain_{ufunc.__name__}", doc="Combines.")
    assert total(op, x) == total(plain, x)


def test_a_number_as_the_neutral_element_is_combined_from():
    """A wrong one can be seen: partial results start from it."""
    wrong = elementwise(numpy.add, name="wrong", neutral=1, doc="a + b.")
    assert total(wrong, np.zeros(5000, dtype="float32")) > 0


def test_bools_are_refused():
    taken = elementwise(numpy.positive, name="taken", doc="+x.")
    refused = elementwise(numpy.positive, name="refused", bool_ok=False, doc="+x.")
    flags = np.array([True, False])
    assert taken(flags).tolist() == [1, 0]
    with pytest.raises(TypeError, match="refused: no loop for dtype, got bool"):
        refused(flags)
    assert refused(np.array([3])).tolist() == [3]


def test_methods_of_vectors_are_called_by_their_names():
    most = elementwise(numpy.maximum, name="most", neutral="lowest", reduction="largest", doc="The larger one.")
    assert most.reduce(np.array([1.0, 5.0, 2.0])).item() == 5.0
    assert most.accumulate(np.array([1.0, 5.0, 2.0])).tolist() == [1.0, 5.0, 5.0]


@pytest.mark.parametrize("exact", [True, "real", False])
def test_exact_loops_take_inputs_with_gaps(exact):
    op = elementwise(numpy.negative, name="turned", exact=exact, doc="-x.")
    values = numpy.linspace(-1, 1, 3000).astype("complex64")
    assert op(np.array(values)[::3]).tolist() == (-values[::3]).tolist()
    assert op(np.array(values.real)[::3]).tolist() == (-values.real[::3]).tolist()


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"exact": "almost"}, "exact must be True, False or \"real\", got 'almost'"),
        ({"exact": 1}, 'exact must be True, False or "real", got 1'),
        ({"neutral": 2}, 'neutral must be 0, 1, "lowest", "highest" or None, got 2'),
        ({"neutral": 1 << 80}, "neutral must be 0, 1"),
        ({"neutral": "low"}, "neutral must be 0, 1"),
        ({"accumulate_in": "int32"}, "accumulate_in must be a real floating dtype, got 'int32'"),
        ({"accumulate_in": "complex64"}, "accumulate_in must be a real floating dtype"),
        ({"formula": "sum"}, "formula must be the name of a formula or None, got 'sum'"),
        ({"formula": "none"}, "formula must be the name of a formula"),
        ({"formula": 1}, "formula must be the name of a formula or None, got 1"),
    ],
)
def test_facts_are_checked(facts, message):
    with pytest.raises(ValueError, match=message):
        elementwise(numpy.add, name="odd", doc="a + b.", **facts)


def test_another_operation_of_a_ufunc_has_the_facts_of_its_loops():
    raised = elementwise(numpy.power, name="raised", doc="a to the power b.")
    y = raised(np.array([2, 3]), np.array([1, -1]))
    with pytest.raises(ValueError, match="integers must not be raised to negative integer powers"):
        y.tolist()


@pytest.mark.parametrize("ufunc", [numpy.negative, numpy.isnan, numpy.isinf, numpy.isfinite, numpy.signbit])
def test_loops_that_are_wrong_for_gaps_get_none(ufunc):
    op = elementwise(ufunc, name="own", doc="Another one.")
    values = numpy.linspace(-1, 1, 4096, dtype="float32")
    values[::5], values[::7] = numpy.nan, numpy.inf
    out = np.zeros(8192, dtype=ufunc(values).dtype)
    op(np.array(values), out=out[::2])
    assert numpy.array_equal(out[::2].asnumpy(), ufunc(values), equal_nan=ufunc is numpy.negative)


def test_unknown_facts_are_refused():
    with pytest.raises(TypeError, match="colour"):
        elementwise(numpy.add, name="odd", doc="a + b.", colour="red")  # type: ignore[call-arg]


def test_operators_are_those_of_the_paragraphs():
    assert arithmetic.add.operator == "add"
    assert arithmetic.gcd.operator is None
    own = elementwise(numpy.add, name="own", operator="add", doc="a + b.")
    assert own.operator == "add"
    assert (np.array([1]) + np.array([2])).tolist() == [3]


def test_an_example_is_part_of_the_docstring():
    one = elementwise(numpy.add, name="one", doc="a + b.", example=("np.add(1, 2)", "array(3)"))
    assert ">>> np.add(1, 2)\narray(3)\n" in one.__doc__
    assert elementwise(numpy.add, name="two", doc="a + b.").__doc__ == "a + b."


def test_facts_for_gpus_are_in_the_paragraphs():
    assert (arithmetic.cbrt.ulps, arithmetic.cbrt.stablehlo) == (4, "cbrt")
    assert (accuracy.ULPS["cbrt"], arithmetic.floor.ulps, accuracy.bound("floor", "float32")) == (4, None, 0.5)
    assert {"cbrt", "exp", "erf", "frexp", "heaviside", "left_shift"} <= set(loops.names())


def test_a_slow_operation_is_handed_over_sooner():
    x = np.ones(2000, dtype="float64")
    fast, slow = (elementwise(numpy.sin, constant=True, name=f"sine_{s}", slow=s, doc="Sine.") for s in (False, True))
    before = forerun.stats()["at_once"]
    forerun.wait([fast(x)])
    assert forerun.stats()["at_once"] == before + 1
    forerun.wait([slow(x)])
    assert forerun.stats()["at_once"] == before + 1


PARAGRAPHS = "src/forerun/ops/elementwise/arithmetic.py"


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("cbrt", {"src/forerun/nd/__init__.py"}),  # MXNet 1.x has it, too
        ("heaviside", {"src/forerun/_pjrt/kinds/elementwise/arithmetic.py"}),  # StableHLO lacks it
    ],
)
def test_few_files_name_an_elementwise_operation(name, others):
    assert set(counts.named_in(ROOT, name)) == {PARAGRAPHS, "src/forerun/np/__init__.py"} | others
