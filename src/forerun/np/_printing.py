"""Arrays and numbers as text, and the settings of that; NumPy does the writing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy

from ..ops._base.convert import asarray, is_array
from ..ops._base.traced import placeholder

if TYPE_CHECKING:
    from ..typing import ArrayLike

Trim = Literal["k", ".", "0", "-"]
Formatter: TypeAlias = Mapping[str, Callable[[Any], str]] | None  # by the kind of values
Sign: TypeAlias = Literal["-", "+", " "] | None
FloatMode: TypeAlias = Literal["fixed", "unique", "maxprec", "maxprec_equal"] | None
Legacy: TypeAlias = Literal["1.13", "1.21", "1.25", "2.1", "2.2", False] | None

__all__ = [
    "array2string", "array_repr", "array_str", "base_repr", "binary_repr", "format_float_positional",
    "format_float_scientific", "get_printoptions", "printoptions", "set_printoptions", "typename",
]  # fmt: skip


# --- arrays ---------------------------------------------------------------------------------------


def array2string(
    a: ArrayLike, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None,
    separator: str = " ", prefix: str = "", *, formatter: Formatter = None, threshold: int | None = None,
    edgeitems: int | None = None, sign: Sign = None, floatmode: FloatMode = None, suffix: str = "",
    legacy: Legacy = None,
) -> str:  # fmt: skip
    """Return an array's values as text, with NumPy's options. Waits.

    Parameters
    ----------
    a : array_like
        The array.
    max_line_width : int, optional
        The number of characters after which a line is broken.
    precision : int, optional
        The number of digits.
    suppress_small : bool, optional
        Whether numbers close to zero are printed as zero.
    separator : str, optional
        The text between two elements.
    prefix : str, optional
        The text before the array, for its width.
    formatter : dict, optional
        A dict of functions that format values, by kind.
    threshold : int, optional
        The number of elements from which the text is shortened.
    edgeitems : int, optional
        The number of elements at each end of a shortened axis.
    sign : array_like, optional
        Whether positive numbers get a sign: "-", "+" or " ".
    floatmode : array_like, optional
        How digits are chosen: "fixed", "unique", "maxprec" or "maxprec_equal".
    suffix : str, optional
        The text behind the array, for its width.
    legacy : str, optional
        The version of NumPy whose format is used.

    Returns
    -------
    str
        An array's values as text.

    Examples
    --------
    >>> from forerun import np
    >>> np.array2string(np.array([1.0, 2.5]), separator=", ")
    '[1. , 2.5]'
    """
    a = asarray(a)
    options: dict[str, Any] = {"formatter": formatter, "legacy": legacy}
    return placeholder(a) or numpy.array2string(
        a.numpy(), max_line_width, precision, suppress_small, separator, prefix, threshold=threshold,
        edgeitems=edgeitems, sign=sign, floatmode=floatmode, suffix=suffix, **options,
    )  # fmt: skip


def array_repr(
    arr: ArrayLike, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None
) -> str:
    """Return an array as `repr` gives it, with NumPy's options. Waits.

    Parameters
    ----------
    arr : array_like
        The array.
    max_line_width : int, optional
        The number of characters after which a line is broken.
    precision : int, optional
        The number of digits.
    suppress_small : bool, optional
        Whether numbers close to zero are printed as zero.

    Returns
    -------
    str
        An array as `repr` gives it.

    Examples
    --------
    >>> from forerun import np
    >>> np.array_repr(np.array([0.25, 1.0]), precision=1)
    'array([0.2, 1. ])'
    """
    with _widths(max_line_width, precision, suppress_small):
        return repr(asarray(arr))


def array_str(
    a: ArrayLike, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None
) -> str:
    """Return an array as `str` gives it, with NumPy's options. Waits.

    Parameters
    ----------
    a : array_like
        The array.
    max_line_width : int, optional
        The number of characters after which a line is broken.
    precision : int, optional
        The number of digits.
    suppress_small : bool, optional
        Whether numbers close to zero are printed as zero.

    Returns
    -------
    str
        An array as `str` gives it.

    Examples
    --------
    >>> from forerun import np
    >>> np.array_str(np.array([0.25, 1.0]), precision=1)
    '[0.2 1. ]'
    """
    with _widths(max_line_width, precision, suppress_small):
        return str(asarray(a))


def _widths(width: int | None, precision: int | None, suppress: bool | None) -> AbstractContextManager[Any]:
    given = {"linewidth": width, "precision": precision, "suppress": suppress}
    return numpy.printoptions(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]


def set_printoptions(
    precision: int | None = None, threshold: int | None = None, edgeitems: int | None = None,
    linewidth: int | None = None, suppress: bool | None = None, nanstr: str | None = None,
    infstr: str | None = None, formatter: Formatter = None, sign: Sign = None, floatmode: FloatMode = None, *,
    legacy: Legacy = None, override_repr: Callable[[Any], str] | None = None,
) -> None:  # fmt: skip
    """Set NumPy's print options, with which arrays are shown.

    Parameters
    ----------
    precision : int, optional
        The number of digits.
    threshold : int, optional
        The number of elements from which the text is shortened.
    edgeitems : int, optional
        The number of elements at each end of a shortened axis.
    linewidth : int, optional
        The number of characters in a line.
    suppress : bool, optional
        Whether numbers are printed without exponents.
    nanstr : str, optional
        The text for NaN.
    infstr : str, optional
        The text for infinity.
    formatter : dict, optional
        A dict of functions that format values, by kind.
    sign : array_like, optional
        Whether positive numbers get a sign: "-", "+" or " ".
    floatmode : array_like, optional
        How digits are chosen: "fixed", "unique", "maxprec" or "maxprec_equal".
    legacy : str, optional
        The version of NumPy whose format is used.
    override_repr : callable, optional
        A function that formats arrays.

    Examples
    --------
    >>> from forerun import np
    >>> np.set_printoptions(precision=3); np.array([1 / 3])
    array([0.333])
    >>> np.set_printoptions(precision=8)
    """
    options: dict[str, Any] = {"formatter": formatter, "sign": sign, "floatmode": floatmode, "legacy": legacy}
    numpy.set_printoptions(
        precision, threshold, edgeitems, linewidth, suppress, nanstr, infstr, override_repr=override_repr, **options
    )


def get_printoptions() -> dict[str, Any]:
    """Return NumPy's print options as they are.

    Returns
    -------
    dict
        NumPy's print options as they are.

    Examples
    --------
    >>> from forerun import np
    >>> np.get_printoptions()["precision"]
    8
    """
    return dict(numpy.get_printoptions())


def printoptions(*args: Any, **kwargs: Any) -> AbstractContextManager[Any]:
    """`set_printoptions` for the statements of a with block.

    Parameters
    ----------
    *args : any
        Arguments of `set_printoptions`.
    **kwargs : any
        Keyword arguments of `set_printoptions`.

    Returns
    -------
    context manager
        A context manager that restores the options.

    Examples
    --------
    >>> from forerun import np
    >>> with np.printoptions(precision=2):
    ...     np.array([1 / 3])
    array([0.33])
    """
    return numpy.printoptions(*args, **kwargs)


# --- numbers --------------------------------------------------------------------------------------


def _number(x: ArrayLike) -> Any:
    """Return the NumPy scalar of an array without axes; anything else as it is."""
    return x.numpy()[()] if is_array(x) else x


def format_float_positional(
    x: ArrayLike, precision: int | None = None, unique: bool = True, fractional: bool = True, trim: Trim = "k",
    sign: bool = False, pad_left: int | None = None, pad_right: int | None = None, min_digits: int | None = None,
) -> str:  # fmt: skip
    """Return a number without an exponent, with NumPy's options. Waits for an array without axes.

    Parameters
    ----------
    x : array_like
        The number.
    precision : int, optional
        The number of digits.
    unique : bool, optional
        Whether to print the shortest text that reads back as the same number.
    fractional : bool, optional
        Whether `precision` counts digits behind the point, and not all.
    trim : str, optional
        The treatment of zeros at the end: "k", ".", "0" or "-".
    sign : bool, optional
        Whether positive numbers get a sign.
    pad_left : int, optional
        The number of characters before the point.
    pad_right : int, optional
        The number of characters after the point.
    min_digits : int, optional
        The least number of digits.

    Returns
    -------
    str
        a number without an exponent.

    Examples
    --------
    >>> from forerun import np
    >>> np.format_float_positional(np.array(1e-5))
    '0.00001'
    """
    return numpy.format_float_positional(
        _number(x), precision, unique, fractional, trim, sign, pad_left, pad_right, min_digits
    )


def format_float_scientific(
    x: ArrayLike, precision: int | None = None, unique: bool = True, trim: Trim = "k", sign: bool = False,
    pad_left: int | None = None, exp_digits: int | None = None, min_digits: int | None = None,
) -> str:  # fmt: skip
    """Return a number with an exponent, with NumPy's options. Waits for an array without axes.

    Parameters
    ----------
    x : array_like
        The number.
    precision : int, optional
        The number of digits.
    unique : bool, optional
        Whether to print the shortest text that reads back as the same number.
    trim : str, optional
        The treatment of zeros at the end: "k", ".", "0" or "-".
    sign : bool, optional
        Whether positive numbers get a sign.
    pad_left : int, optional
        The number of characters before the point.
    exp_digits : int, optional
        The least number of digits of the exponent.
    min_digits : int, optional
        The least number of digits.

    Returns
    -------
    str
        a number with an exponent.

    Examples
    --------
    >>> from forerun import np
    >>> np.format_float_scientific(np.array(150.0))
    '1.5e+02'
    """
    return numpy.format_float_scientific(_number(x), precision, unique, trim, sign, pad_left, exp_digits, min_digits)


def base_repr(number: int, base: int = 2, padding: int = 0) -> str:
    """Return an integer in a base from 2 to 36 (ValueError if another), with zeros in front. Waits for an array.

    Parameters
    ----------
    number : int
        The integer.
    base : int, optional
        The base.
    padding : int, optional
        The number of zeros in front.

    Returns
    -------
    str
        An integer in a base from 2 to 36 (ValueError if another).

    Raises
    ------
    ValueError
        For another base.

    Examples
    --------
    >>> from forerun import np
    >>> np.base_repr(10, 16), np.base_repr(5, padding=2)
    ('A', '00101')
    """
    return numpy.base_repr(int(_number(number)), base, padding)


def binary_repr(num: int, width: int | None = None) -> str:
    """Return an integer in base two; with a width, negative ones as two's complement. Waits for an array.

    Parameters
    ----------
    num : int
        The integer.
    width : int, optional
        The number of digits.

    Returns
    -------
    str
        An integer in base two.

    Raises
    ------
    ValueError
        If the width is too small.

    Examples
    --------
    >>> from forerun import np
    >>> np.binary_repr(5), np.binary_repr(-3, width=4)
    ('101', '1101')
    """
    return numpy.binary_repr(int(_number(num)), width)


# NumPy has deprecated its own in 2.5: they are here as long as there are programs that ask for them.
_NAMES = {
    "S1": "character", "?": "bool", "b": "signed char", "B": "unsigned char", "h": "short", "H": "unsigned short",
    "i": "integer", "I": "unsigned integer", "l": "long integer", "L": "unsigned long integer",
    "q": "long long integer", "Q": "unsigned long long integer", "f": "single precision", "d": "double precision",
    "g": "long precision", "F": "complex single precision", "D": "complex double precision",
    "G": "complex long double precision", "S": "string", "U": "unicode", "V": "void", "O": "object",
}  # fmt: skip


def typename(char: str) -> str:
    """Return the description of a dtype's character code.

    Parameters
    ----------
    char : str
        The character code.

    Returns
    -------
    str
        The description of a dtype's character code.

    Raises
    ------
    KeyError
        If there is no such code.

    Examples
    --------
    >>> from forerun import np
    >>> np.typename("f")
    'single precision'
    """
    return _NAMES[char]
