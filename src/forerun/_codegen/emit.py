"""A loop as LLVM's code: the function has the parameters of the core's row loops, and computes vector after vector.

The end of a row, which does not fill a vector, is computed with the same code if the processor can leave places of a
vector out, and nothing is added up; otherwise element by element.
"""

from __future__ import annotations

from dataclasses import dataclass

from .description import Loop, Operand
from .formulas import BITS, LETTERS, Values, instructions

__all__ = ["NAME", "Target", "emit"]

NAME = "loop"
_SUMMED = 64  # bytes of the vectors that are added up, on every processor
_CHAINS = 4  # sums of every fourth vector


@dataclass(frozen=True, slots=True)
class Target:
    """A processor: the bytes of its vectors, and whether loads and stores may leave out places of them."""

    vector: int
    masks: bool


def _memory(dtype: str) -> str:
    return "i8" if dtype == "bool" else LETTERS[dtype]


def _bytes(dtype: str) -> int:
    return max(8, BITS[dtype]) // 8


class _Body:
    """The code for `width` elements from number `index` on."""

    def __init__(self, loop: Loop, width: int, prefix: str, index: str, mask: str | None) -> None:
        self.loop, self.index, self.mask = loop, index, mask
        self.values = Values(width, prefix)
        self.numbers: list[str] = []
        self.summed: list[str] = []  # the summed values, in the order of the loop's sums
        for line in loop.lines:
            if line.formula == "load":
                self.numbers.append(self._load(line.args[0]))
            elif line.formula == "store":
                self._store(line.args[0], self.numbers[line.args[1]])
            elif line.formula == "sum":
                self.summed.append(self.numbers[line.args[1]])
            else:
                args = tuple(self.numbers[k] for k in line.args)
                self.numbers.append(instructions(self.values, line.formula, line.dtypes, args))

    def _load(self, k: int) -> str:
        operand, v = self.loop.operands[k], self.values
        if operand.walk in ("one", "row"):
            return self._one(k, operand.dtype)
        letter = _memory(operand.dtype)
        kind, align = v.wide(letter), f"align {_bytes(operand.dtype)}"
        if operand.walk == "strided" and v.width > 1:
            value = "poison"
            for lane, place in enumerate(self._places(k)):
                element = v.new(f"load {letter}, ptr {place}, {align}")
                value = v.new(f"insertelement {kind} {value}, {letter} {element}, i64 {lane}")
        elif self.mask:
            name = f"@llvm.masked.load.{self._suffix(letter)}"
            flags = v.wide("i1")
            v.intrinsics.add(f"declare {kind} {name}(ptr, i32, {flags}, {kind})")
            args = f"ptr {self._place(k)}, i32 {_bytes(operand.dtype)}, {flags} {self.mask}, {kind} zeroinitializer"
            value = v.new(f"call {kind} {name}({args})")
        else:
            value = v.new(f"load {kind}, ptr {self._place(k)}, {align}")
        return self._flags(value) if operand.dtype == "bool" else value

    def _store(self, k: int, value: str) -> None:
        operand, v = self.loop.operands[k], self.values
        letter = _memory(operand.dtype)
        kind, align = v.wide(letter), f"align {_bytes(operand.dtype)}"
        if operand.dtype == "bool":
            value = v.new(f"zext {v.wide('i1')} {value} to {kind}")
        if operand.walk == "strided" and v.width > 1:
            # From the last on: where several places are that of the last element, its own value is stored there last.
            for lane, place in reversed(list(enumerate(self._places(k)))):
                element = v.new(f"extractelement {kind} {value}, i64 {lane}")
                v.code.append(f"store {letter} {element}, ptr {place}, {align}")
        elif self.mask:
            name = f"@llvm.masked.store.{self._suffix(letter)}"
            flags = v.wide("i1")
            v.intrinsics.add(f"declare void {name}({kind}, ptr, i32, {flags})")
            args = f"{kind} {value}, ptr {self._place(k)}, i32 {_bytes(operand.dtype)}, {flags} {self.mask}"
            v.code.append(f"call void {name}({args})")
        else:
            v.code.append(f"store {kind} {value}, ptr {self._place(k)}, {align}")

    def _suffix(self, letter: str) -> str:
        """The end of the name of LLVM's functions that load or store some elements of a vector."""
        return f"v{self.values.width}{ {'float': 'f32', 'double': 'f64'}.get(letter, letter) }.p0"

    def _place(self, k: int) -> str:
        """The address of the first of the elements."""
        operand, v = self.loop.operands[k], self.values
        if operand.walk == "dense":
            return v.new(f"getelementptr {_memory(operand.dtype)}, ptr %p{k}, i64 {self.index}")
        before = v.new(f"mul i64 {self.index}, {operand.stride}")
        return v.new(f"getelementptr i8, ptr %p{k}, i64 {before}")

    def _places(self, k: int) -> list[str]:
        """The addresses of elements that do not follow one another; in place of those beyond the row, the last's."""
        stride, v, first = self.loop.operands[k].stride, self.values, self._place(k)
        places = [first]
        for lane in range(1, v.width):
            after = f"{lane * stride}" if not self.mask else v.new(f"mul i64 %lane.{lane}, {stride}")
            places.append(v.new(f"getelementptr i8, ptr {first}, i64 {after}"))
        return places

    def _one(self, k: int, dtype: str) -> str:
        v = self.values
        if v.width == 1:
            return f"%x{k}"
        kind = v.type_of(dtype)
        first = v.new(f"insertelement {kind} poison, {LETTERS[dtype]} %x{k}, i64 0")
        return v.new(f"shufflevector {kind} {first}, {kind} poison, <{v.width} x i32> zeroinitializer")

    def _flags(self, value: str) -> str:
        zero = "0" if self.values.width == 1 else "zeroinitializer"
        return self.values.new(f"icmp ne {self.values.wide('i8')} {value}, {zero}")


def _one_element(k: int, operand: Operand, place: str) -> list[str]:
    """An operand of which there is one element, as `%x` and its number."""
    if operand.dtype != "bool":
        return [f"%x{k} = load {LETTERS[operand.dtype]}, ptr {place}"]
    return [f"%y{k} = load i8, ptr {place}", f"%x{k} = icmp ne i8 %y{k}, 0"]


def _before_rows(loop: Loop) -> list[str]:
    """The operands' addresses, and those of which there is one element for all rows."""
    code = []
    for k, operand in enumerate(loop.operands):
        code += [f"%a{k} = getelementptr ptr, ptr %args, i64 {k}", f"%b{k} = load ptr, ptr %a{k}"]
        if operand.walk == "one":
            code += _one_element(k, operand, f"%b{k}")
        else:
            code += [f"%c{k} = getelementptr i64, ptr %pitches, i64 {k}", f"%s{k} = load i64, ptr %c{k}"]
    return code


def _before_row(loop: Loop) -> list[str]:
    """The operands' addresses in a row, and those of which there is one element there."""
    code = []
    for k, operand in enumerate(loop.operands):
        if operand.walk != "one":
            code += [f"%o{k} = mul i64 %r, %s{k}", f"%p{k} = getelementptr i8, ptr %b{k}, i64 %o{k}"]
        if operand.walk == "row":
            code += _one_element(k, operand, f"%p{k}")
    return code


def _next_of(index: str, step: int, end: str, loop: str, then: str) -> list[str]:
    """The end of a loop: the next index, and the branch to the loop's label while that is below the end."""
    return [
        f"%{index}.next = add i64 %{index}, {step}",
        f"%{index}.more = icmp ult i64 %{index}.next, {end}",
        f"br i1 %{index}.more, label %{loop}, label %{then}",
    ]


def _masked(loop: Loop, width: int) -> tuple[list[str], list[_Body]]:
    """A loop over whole vectors, and one more vector that leaves out places."""
    vectors, body = _vectors(loop, width)
    rest = _Body(loop, width, "e", "%whole", "%mask")
    lanes = ", ".join(f"i64 {k}" for k in range(width))
    wide = f"<{width} x i64>"
    code = [
        *vectors,
        "elements:",
        "%left = sub i64 %n, %whole",
        f"%left.1 = insertelement {wide} poison, i64 %left, i64 0",
        f"%left.all = shufflevector {wide} %left.1, {wide} poison, <{width} x i32> zeroinitializer",
        f"%mask = icmp ugt {wide} %left.all, <{lanes}>",
        *_lanes(loop, width),
        *rest.values.code,
        "br label %row.done",
    ]
    return code, [body, rest]


def _lanes(loop: Loop, width: int) -> list[str]:
    """`%lane.k`: k, or the last element's number if there are fewer; for operands that are loaded one by one."""
    if not any(operand.walk == "strided" for operand in loop.operands):
        return []
    code = ["%last = sub i64 %left, 1"]
    for lane in range(1, width):
        code.append(f"%has.{lane} = icmp ugt i64 %left, {lane}")
        code.append(f"%lane.{lane} = select i1 %has.{lane}, i64 {lane}, i64 %last")
    return code


def _vectors(loop: Loop, width: int) -> tuple[list[str], _Body]:
    """A loop over the whole vectors of a row; `elements` is where those that are left are computed."""
    body = _Body(loop, width, "v", "%i", None)
    code = [
        f"%whole = and i64 %n, {-width}",
        "%any = icmp ugt i64 %whole, 0",
        "br i1 %any, label %vectors, label %ends",
        "vectors:",
        "%i = phi i64 [0, %row], [%i.next, %vectors]",
        *body.values.code,
        *_next_of("i", width, "%whole", "vectors", "ends"),
        "ends:",
        "%some = icmp ult i64 %whole, %n",
        "br i1 %some, label %elements, label %row.done",
    ]
    return code, body


def _plain(loop: Loop, width: int) -> tuple[list[str], list[_Body]]:
    """A loop over whole vectors, and one over the elements that are left."""
    vectors, body = _vectors(loop, width)
    rest = _Body(loop, 1, "e", "%j", None)
    code = [
        *vectors,
        "elements:",
        "%j = phi i64 [%whole, %ends], [%j.next, %elements]",
        *rest.values.code,
        *_next_of("j", 1, "%n", "elements", "row.done"),
    ]
    return code, [body, rest]


class _Sums:
    """Sums along a row, in the order of `sum_of` (core/cpu/kernels/reduce/blocked_reduction.cpp)."""

    def __init__(self, loop: Loop) -> None:
        self.operands = [line.args[0] for line in loop.lines if line.formula == "sum"]
        self.letters = [LETTERS[loop.operands[k].dtype] for k in self.operands]
        self.width = _SUMMED // _bytes(loop.operands[self.operands[0]].dtype)
        self.code: list[str] = []

    def add(self, name: str, instruction: str, *args: str, wide: bool = True) -> None:
        """Add an instruction for each sum: names and arguments, in which `*` is replaced by the sum's number."""
        for s, letter in enumerate(self.letters):
            kind = f"<{self.width} x {letter}>" if wide else letter
            values = ", ".join(arg.replace("*", str(s)) for arg in args)
            self.code.append(f"%{name.replace('*', str(s))} = {instruction} {kind} {values}")

    def body(self, body: _Body, name: str, before: str, *, wide: bool = True) -> _Body:
        """Add the code of a body, which adds its values to the sums `before`."""
        self.code += body.values.code
        for s, letter in enumerate(self.letters):
            kind = f"<{self.width} x {letter}>" if wide else letter
            self.code.append(f"%{name}{s} = fadd {kind} %{before}{s}, {body.summed[s]}")
        return body

    def across(self) -> None:
        """Add the halves of the vectors `%ends.*`, and the halves of these, down to `%across.*`."""
        for s, letter in enumerate(self.letters):
            whole, width = f"%ends.{s}", self.width
            while width > 1:
                half = width // 2
                for name, first in (("low", 0), ("high", half)):
                    lanes = ", ".join(f"i32 {k}" for k in range(first, first + half))
                    self.code.append(
                        f"%{name}{half}.{s} = shufflevector <{width} x {letter}> {whole}, "
                        f"<{width} x {letter}> poison, <{half} x i32> <{lanes}>"
                    )
                self.code.append(f"%half{half}.{s} = fadd <{half} x {letter}> %low{half}.{s}, %high{half}.{s}")
                whole, width = f"%half{half}.{s}", half
            self.code.append(f"%across.{s} = extractelement <1 x {letter}> {whole}, i64 0")


def _summed(loop: Loop) -> tuple[list[str], list[_Body]]:
    """Four sums of vectors, which become one; the vectors that are left; and a sum of the elements that are left."""
    sums = _Sums(loop)
    width = sums.width
    sums.code += [f"%whole = and i64 %n, {-width}", f"%fours = and i64 %n, {-width * _CHAINS}"]
    bodies = [*_four_sums(loop, sums), _sum_of_vectors(loop, sums), _sum_of_elements(loop, sums)]
    for s, (k, letter) in enumerate(zip(sums.operands, sums.letters)):
        sums.code += [
            f"%before.{s} = load {letter}, ptr %p{k}",
            f"%total.{s} = fadd {letter} %before.{s}, %row.{s}",
            f"store {letter} %total.{s}, ptr %p{k}",
        ]
    sums.code.append("br label %row.done")
    return sums.code, bodies


def _four_sums(loop: Loop, sums: _Sums) -> list[_Body]:
    """Four sums side by side, as one addition waits for the one before; then %all is the sum of them."""
    width, code, chains = sums.width, sums.code, range(_CHAINS)
    bodies = []
    code += [
        "%any = icmp ugt i64 %fours, 0",
        "br i1 %any, label %chains, label %joined",
        "chains:",
        "%i = phi i64 [0, %row], [%i.next, %chains]",
    ]
    for c in chains:
        sums.add(f"sum{c}.*", "phi", "[zeroinitializer, %row]", f"[%more{c}.*, %chains]")
    for c in chains:
        code.append(f"%i{c} = add i64 %i, {c * width}")
        bodies.append(sums.body(_Body(loop, width, f"v{c}.", f"%i{c}", None), f"more{c}.", f"sum{c}."))
    code += [*_next_of("i", width * _CHAINS, "%fours", "chains", "joined"), "joined:"]
    for c in chains:
        sums.add(f"chain{c}.*", "phi", "[zeroinitializer, %row]", f"[%more{c}.*, %chains]")
    sums.add("pair0.*", "fadd", "%chain0.*", "%chain1.*")
    sums.add("pair1.*", "fadd", "%chain2.*", "%chain3.*")
    sums.add("all.*", "fadd", "%pair0.*", "%pair1.*")
    return bodies


def _sum_of_vectors(loop: Loop, sums: _Sums) -> _Body:
    """Adds the vectors that are left to %all, and sums up across the vector."""
    sums.code += [
        "%single = icmp ult i64 %fours, %whole",
        "br i1 %single, label %vectors, label %ends",
        "vectors:",
        "%j = phi i64 [%fours, %joined], [%j.next, %vectors]",
    ]
    sums.add("sum.*", "phi", "[%all.*, %joined]", "[%added.*, %vectors]")
    body = sums.body(_Body(loop, sums.width, "w", "%j", None), "added.", "sum.")
    sums.code += [*_next_of("j", sums.width, "%whole", "vectors", "ends"), "ends:"]
    sums.add("ends.*", "phi", "[%all.*, %joined]", "[%added.*, %vectors]")
    sums.across()
    return body


def _sum_of_elements(loop: Loop, sums: _Sums) -> _Body:
    """Sums the elements that fill no vector, and adds them: %row is the sum of the row."""
    sums.code += [
        "%some = icmp ult i64 %whole, %n",
        "br i1 %some, label %elements, label %row.sums",
        "elements:",
        "%k = phi i64 [%whole, %ends], [%k.next, %elements]",
    ]
    sums.add("rest.*", "phi", "[0.0, %ends]", "[%rested.*, %elements]", wide=False)
    body = sums.body(_Body(loop, 1, "e", "%k", None), "rested.", "rest.", wide=False)
    sums.code += [*_next_of("k", 1, "%n", "elements", "row.sums"), "row.sums:"]
    sums.add("left.*", "phi", "[0.0, %ends]", "[%rested.*, %elements]", wide=False)
    sums.add("row.*", "fadd", "%across.*", "%left.*", wide=False)
    return body


def emit(loop: Loop, target: Target) -> str:
    """Return LLVM's code of a loop, as a function called `NAME`.

    Parameters
    ----------
    loop : Loop
        Its operands and lines.
    target : Target
        The processor that it is for.
    """
    sizes = [_bytes(dtype) for line in loop.lines for dtype in line.dtypes]
    width = target.vector // max(sizes, default=1)
    if any(line.formula == "sum" for line in loop.lines):
        code, bodies = _summed(loop)
    else:
        code, bodies = _masked(loop, width) if target.masks else _plain(loop, width)
    declared = sorted({name for body in bodies for name in body.values.intrinsics})
    bits = 8 * target.vector
    return "\n".join([
        f"define void @{NAME}(ptr %args, i64 %rows, i64 %n, ptr %steps, ptr %pitches, ptr %data) #0 {{",
        "entry:",
        *_before_rows(loop),
        "br label %row",
        "row:",
        "%r = phi i64 [0, %entry], [%r.next, %row.done]",
        *_before_row(loop),
        *code,
        "row.done:",
        *_next_of("r", 1, "%rows", "row", "done"),
        "done:",
        "ret void",
        "}",
        *declared,
        f'attributes #0 = {{ nounwind "min-legal-vector-width"="{bits}" "prefer-vector-width"="{bits}" }}',
        "",
    ])  # fmt: skip
