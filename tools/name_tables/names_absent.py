"""Why forerun lacks some of NumPy's names."""

DATES = "arrays have no dates"
TEXT = "arrays have no text, bytes or objects"
FIELDS = "arrays have no fields"
MATRIX = "NumPy advises against matrices; arrays of two axes and `@` do the same"
LONG = "arrays have no extended precision: its size differs between processors"
WITHIN = "about NumPy itself: ask NumPy"
ITERATION = "iterates over elements in Python, each of which would be waited for"
MODULE = "its functions accept forerun's arrays: call NumPy's"
SCALARS = "about NumPy's scalar types; there are those of the dtypes that arrays have"
BITS = "a source of bits for NumPy's generators; that of forerun is counter-based, and made by `default_rng(seed)`"
MEMORY = "looks at memory, which belongs to the engine; `x.numpy()` gives a view of the values"

REASONS: dict[str, str] = {
    **{f"np.{n}": DATES for n in (
        "busday_count", "busday_offset", "busdaycalendar", "datetime64", "datetime_as_string", "datetime_data",
        "is_busday", "isnat", "timedelta64")},
    **{f"np.{n}": TEXT for n in ("bytes_", "char", "character", "flexible", "object_", "str_", "strings", "fromregex")},
    **{f"np.{n}": FIELDS for n in ("rec", "recarray", "record", "void")},
    **{f"np.{n}": MATRIX for n in ("asmatrix", "bmat", "matrix")},
    **{f"np.{n}": LONG for n in ("clongdouble", "complex256", "float128", "longdouble")},
    **{f"np.{n}": WITHIN for n in (
        "core", "f2py", "get_include", "info", "lib", "show_config", "show_runtime", "test", "typing", "ctypeslib",
        "dtypes")},
    **{f"np.{n}": ITERATION for n in ("flatiter", "nditer", "nested_iters", "ndenumerate", "broadcast")},
    **{f"np.{n}": MODULE for n in ("polynomial", "testing", "exceptions")},
    **{f"np.{n}": SCALARS for n in ("ScalarType", "sctypeDict", "typecodes", "mintypecode")},
    "np.ma": "arrays have no masks; `where=` and `np.where` decide on elements",
    "np.matrix": MATRIX,
    "np.poly1d": "an object around NumPy arrays; the functions of polynomials take vectors of coefficients",
    "np.memmap": "a file that changes while operations are on their way; `np.load` reads on a queue of its own",
    "np.getbufsize": "of NumPy's buffers: the engine cuts arrays into tiles by itself",
    "np.setbufsize": "of NumPy's buffers: the engine cuts arrays into tiles by itself",
    "np.geterrcall": "floating-point errors are not reported: values are computed later, by other threads",
    "np.seterrcall": "floating-point errors are not reported: values are computed later, by other threads",
    "np.ufunc": "operations are objects of forerun's own",
    "np.frompyfunc": "gives objects, which arrays do not have; `npx.host` and `np.vectorize` call Python",
    "np.random.test": WITHIN,
    "np.linalg.test": WITHIN,
    "np.fft.test": WITHIN,
    **{f"np.random.{n}": BITS for n in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")},
    **{f"np.random.{n}": "NumPy's modules and their settings" for n in (
        "bit_generator", "get_bit_generator", "mtrand", "set_bit_generator")},
    **{f"np.ndarray.{n}": MEMORY for n in ("base", "ctypes", "data", "flags", "setflags")},
    "np.ndarray.byteswap": "arrays are always in the byte order of the machine",
    "np.ndarray.dump": "use `np.save`, which is safe to read",
    "np.ndarray.dumps": "use `np.save`, which is safe to read",
    "np.ndarray.getfield": FIELDS,
    "np.ndarray.setfield": FIELDS,
    "np.ndarray.resize": "would change an array that operations on their way use; `np.resize` gives a new one",
}  # fmt: skip
