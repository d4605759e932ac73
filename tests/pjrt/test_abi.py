"""The layouts that `core/pjrt/abi.h` states are those of the interface's own header."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.device_plugins.plugins import HEADER
from tests.support.paths import ROOT

ABI = ROOT / "core" / "pjrt" / "abi.h"
OTHERS = {  # structures that are not arguments, and their names in the header
    "NamedValue": "PJRT_NamedValue",
    "Program": "PJRT_Program",
    "ExecuteOptions": "PJRT_ExecuteOptions",
    "Version": "PJRT_Api_Version",
    "Extension": "PJRT_Extension_Base",
}
CONSTANTS = {
    "Code::ok": "PJRT_Error_Code_OK",
    "Code::resource_exhausted": "PJRT_Error_Code_RESOURCE_EXHAUSTED",
    "Code::unauthenticated": "PJRT_Error_Code_UNAUTHENTICATED",
    "NamedValueType::string": "PJRT_NamedValue_kString",
    "NamedValueType::int64": "PJRT_NamedValue_kInt64",
    "NamedValueType::int64_list": "PJRT_NamedValue_kInt64List",
    "NamedValueType::float32": "PJRT_NamedValue_kFloat",
    "NamedValueType::boolean": "PJRT_NamedValue_kBool",
    "HostBuffer::immutable_during_call": "PJRT_HostBufferSemantics_kImmutableOnlyDuringCall",
    "HostBuffer::immutable_until_done": "PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes",
    "HostBuffer::immutable_zero_copy": "PJRT_HostBufferSemantics_kImmutableZeroCopy",
    **{
        f"ElementType::{name}": f"PJRT_Buffer_Type_{name.upper()}"
        for name in (
            "pred",
            "s8",
            "s16",
            "s32",
            "s64",
            "u8",
            "u16",
            "u32",
            "u64",
            "f16",
            "bf16",
            "f32",
            "f64",
            "c64",
            "c128",
        )
    },
}


def fields(header: str, name: str) -> list[str]:
    """Return the names of the fields of a structure of the header."""
    found = re.search(rf"struct {name} {{(.*?)\n}}", header, re.DOTALL)
    assert found, name
    body = re.sub(r"//[^\n]*", "", found.group(1)).replace("union {", "").replace("};", "")
    return re.findall(r"(\w+)\)?(?:\([^;]*\))?\s*;", re.sub(r"\(\*(\w+)\)\([^)]*\)", r"\1", body))


def name_of_field(field: str, head: bool) -> str:
    """Return how our structure calls a field of the header."""
    if field.endswith("_is_set"):
        return field.removesuffix("_is_set") + ".is_set"
    return f"head.{field}" if head and field in ("struct_size", "extension_start") else field


def checks(abi_header: str, header: str) -> list[str]:
    """Return the assertions of a C++ program."""
    functions = re.findall(r"_PJRT_API_STRUCT_FIELD\((PJRT_\w+)\)", header)
    slots = {
        name: int(slot)
        for name, slot in re.findall(r"struct (\w+) \{\s*static constexpr int kSlot = (\d+);", abi_header)
    }
    assert len(slots) > 40
    lines = [f"static_assert(abi::kSlots == {len(functions)});"]
    pairs = dict(OTHERS)
    for name, slot in slots.items():
        function = functions[slot]
        assert function.removeprefix("PJRT_").replace("_", "") == name
        lines.append(
            f"SAME(offsetof(abi::Table, functions) + {slot} * sizeof(abi::Function), offsetof(PJRT_Api, {function}));"
        )
        pairs[name] = f"{function}_Args"
    for name, struct in pairs.items():
        head = name in slots or name in ("Program", "ExecuteOptions")
        lines.append(f"SAME(sizeof(abi::{name}), sizeof({struct}));")
        for field in fields(header, struct):
            lines.append(f"SAME(offsetof(abi::{name}, {name_of_field(field, head)}), offsetof({struct}, {field}));")
    lines += [f"SAME(int(abi::{a}), int({b}));" for a, b in CONSTANTS.items()]
    return lines


def test_layouts_are_those_of_the_header(tmp_path: Path) -> None:
    compiler = shutil.which("c++") or shutil.which("g++")
    if not HEADER.exists() or not compiler:
        pytest.skip("no header of the interface: `make plugins` fetches it" if compiler else "no C++ compiler")
    lines = checks(ABI.read_text(), HEADER.read_text())
    assert len(lines) > 250
    program = tmp_path / "abi.cpp"
    program.write_text(
        f'#include "{HEADER}"\n#include "pjrt/abi.h"\nnamespace abi = forerun::pjrt::abi;\n'
        "#define SAME(a, b) static_assert((a) == (b), #a)\n" + "\n".join(lines)
    )
    flags = ["-std=c++20", "-fsyntax-only", "-Wno-invalid-offsetof", f"-I{ROOT / 'core'}"]
    subprocess.run([compiler, *flags, str(program)], check=True)
