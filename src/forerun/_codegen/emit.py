"""A loop as LLVM's code: the function takes what the core's loops take, and computes a vector after the other.

What a vector is too long for at the end is computed with the same code, where processors can leave places of a vector
out; elsewhere element by element.
"""

from __future__ import annotations

from dataclasses import dataclass

from .description import Loop
from .formulas import BITS, LETTERS, Values, instructions

__all__ = ["NAME", "Target", "emit"]

NAME = "loop"


@dataclass(frozen=True, slots=True)
class Target:
    """What a processor has: the bytes of its vectors, and whether loads and stores may leave out places of them."""

    vector: int
    masks: bool


def _memory(dtype: str) -> str:
    return "i8" if dtype == "bool" else LETTERS[dtype]


def _bytes(dtype: str) -> int:
    return max(8, BITS[dtype]) // 8


class _Body:
    """The code for `width` elements from number `%i` on."""

    def __init__(self, loop: Loop, width: int, prefix: str, index: str, mask: str | None) -> None:
        self.loop, self.index, self.mask = loop, index, mask
        self.values = Values(width, prefix)
        self.numbers: list[str] = []
        for line in loop.lines:
            if line.formula == "load":
                self.numbers.append(self._load(line.args[0]))
            elif line.formula == "store":
                self._store(line.args[0], self.numbers[line.args[1]])
            else:
                args = tuple(self.numbers[k] for k in line.args)
                self.numbers.append(instructions(self.values, line.formula, line.dtypes, args))

    def _load(self, k: int) -> str:
        operand, v = self.loop.operands[k], self.values
        kind = v.wide(_memory(operand.dtype))
        if not operand.dense:
            return self._one(k, operand.dtype)
        at = v.new(f"getelementptr {_memory(operand.dtype)}, ptr %p{k}, i64 {self.index}")
        if self.mask:
            suffix = self._suffix(operand.dtype)
            name = f"@llvm.masked.load.{suffix}.p0"
            v.intrinsics.add(f"declare {kind} {name}(ptr, i32, {v.wide('i1')}, {kind})")
            flags = f"{v.wide('i1')} {self.mask}"
            value = v.new(f"call {kind} {name}(ptr {at}, i32 {_bytes(operand.dtype)}, {flags}, {kind} zeroinitializer)")
        else:
            value = v.new(f"load {kind}, ptr {at}, align {_bytes(operand.dtype)}")
        return self._flags(value) if operand.dtype == "bool" else value

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

    def _suffix(self, dtype: str) -> str:
        letter = _memory(dtype)
        short = {"float": "f32", "double": "f64"}.get(letter, letter)
        return f"v{self.values.width}{short}"

    def _store(self, k: int, value: str) -> None:
        operand, v = self.loop.operands[k], self.values
        kind = v.wide(_memory(operand.dtype))
        if operand.dtype == "bool":
            value = v.new(f"zext {v.wide('i1')} {value} to {kind}")
        at = v.new(f"getelementptr {_memory(operand.dtype)}, ptr %p{k}, i64 {self.index}")
        if not self.mask:
            v.code.append(f"store {kind} {value}, ptr {at}, align {_bytes(operand.dtype)}")
            return
        name = f"@llvm.masked.store.{self._suffix(operand.dtype)}.p0"
        flags = v.wide("i1")
        v.intrinsics.add(f"declare void {name}({kind}, ptr, i32, {flags})")
        v.code.append(
            f"call void {name}({kind} {value}, ptr {at}, i32 {_bytes(operand.dtype)}, {flags} {self.mask})"
        )


def _prologue(loop: Loop) -> list[str]:
    """The operands' addresses, and those of which there is one element."""
    code = ["%n = load i64, ptr %count"]
    for k, operand in enumerate(loop.operands):
        code.append(f"%a{k} = getelementptr ptr, ptr %args, i64 {k}")
        code.append(f"%p{k} = load ptr, ptr %a{k}")
        if not operand.dense:
            letter = _memory(operand.dtype)
            code.append(f"%{'y' if operand.dtype == 'bool' else 'x'}{k} = load {letter}, ptr %p{k}")
            if operand.dtype == "bool":
                code.append(f"%x{k} = icmp ne i8 %y{k}, 0")
    return code


def _masked(loop: Loop, width: int) -> tuple[list[str], _Body]:
    """A loop over vectors, each of which knows how many of its places are left."""
    body = _Body(loop, width, "v", "%i", "%mask")
    lanes = ", ".join(f"i64 {k}" for k in range(width))
    wide = f"<{width} x i64>"
    code = [
        "br label %vectors",
        "vectors:",
        "%i = phi i64 [0, %entry], [%next, %vectors]",
        "%left = sub i64 %n, %i",
        f"%left.1 = insertelement {wide} poison, i64 %left, i64 0",
        f"%left.all = shufflevector {wide} %left.1, {wide} poison, <{width} x i32> zeroinitializer",
        f"%mask = icmp ugt {wide} %left.all, <{lanes}>",
        *body.values.code,
        f"%next = add i64 %i, {width}",
        "%more = icmp ult i64 %next, %n",
        "br i1 %more, label %vectors, label %done",
    ]
    return code, body


def _plain(loop: Loop, width: int) -> tuple[list[str], _Body, _Body]:
    """A loop over whole vectors, and one over the elements that are left."""
    body, rest = _Body(loop, width, "v", "%i", None), _Body(loop, 1, "e", "%j", None)
    code = [
        f"%whole = and i64 %n, {-width}",
        "%any = icmp ugt i64 %whole, 0",
        "br i1 %any, label %vectors, label %ends",
        "vectors:",
        "%i = phi i64 [0, %entry], [%next, %vectors]",
        *body.values.code,
        f"%next = add i64 %i, {width}",
        "%more = icmp ult i64 %next, %whole",
        "br i1 %more, label %vectors, label %ends",
        "ends:",
        "%left = icmp ult i64 %whole, %n",
        "br i1 %left, label %elements, label %done",
        "elements:",
        "%j = phi i64 [%whole, %ends], [%following, %elements]",
        *rest.values.code,
        "%following = add i64 %j, 1",
        "%again = icmp ult i64 %following, %n",
        "br i1 %again, label %elements, label %done",
    ]
    return code, body, rest


def emit(loop: Loop, target: Target) -> str:
    """Return LLVM's code of a loop, as a function called `NAME`.

    Parameters
    ----------
    loop : Loop
        Its operands and lines.
    target : Target
        The processor that it is for.
    """
    sizes = [_bytes(dtype) for line in loop.lines for dtype in (*line.dtypes, *_results(line.formula, line.dtypes))]
    width = target.vector // max(sizes, default=1)
    bodies: tuple[_Body, ...]
    if target.masks:
        code, *rest = _masked(loop, width)
        bodies = tuple(rest)
    else:
        code, *rest = _plain(loop, width)
        bodies = tuple(rest)
    declared = sorted({name for body in bodies for name in body.values.intrinsics})
    bits = 8 * target.vector
    return "\n".join([
        f"define void @{NAME}(ptr %args, ptr %count, ptr %steps, ptr %data) #0 {{",
        "entry:",
        *_prologue(loop),
        *code,
        "done:",
        "ret void",
        "}",
        *declared,
        f'attributes #0 = {{ nounwind "min-legal-vector-width"="{bits}" "prefer-vector-width"="{bits}" }}',
        "",
    ])  # fmt: skip


def _results(formula: str, dtypes: tuple[str, ...]) -> tuple[str, ...]:
    return dtypes[-1:] if formula == "cast" else ()
