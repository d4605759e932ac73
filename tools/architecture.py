"""Draw the folders of the source tree and the imports between them, and list them in docs/explanation/architecture.md.

    python tools/architecture.py            writes docs/explanation/architecture.svg and the table of the page
    python tools/architecture.py --check    fails if they are not up to date

The arrows are the imports and includes of the tree. An arrow that others imply is left out: if `gluon` imports `np` and
`np` imports `ops`, there is no arrow from `gluon` to `ops`.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from itertools import accumulate, pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from imports import circles, imports, includes

from forerun.profiler._picture.layers import Node, layered
from forerun.profiler._picture.places import places

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "explanation" / "architecture.svg"
PAGE = ROOT / "docs" / "explanation" / "architecture.md"
START, END = "<!-- rooms: written by tools/architecture.py -->", "<!-- end of rooms -->"

# From the bottom up: the name of a box, its parts, their purpose. Parts that the tree lacks are left out.
ROOMS = [
    ("base", "core/base", "dtypes, shapes, regions of memory, errors, small containers"),
    ("trace", "core/trace", "records of when operations ran"),
    ("engine", "core/engine", "submission, dependencies, passes, scheduling, workers, budgets"),
    ("memory", "core/memory", "buffers and the caching allocator"),
    ("array", "core/array", "arrays: a storage, a shape, strides"),
    ("device", "core/device", "the interface of devices"),
    ("capture", "core/capture", "captured programs"),
    ("net", "core/net", "operations between ranks: MPI, and the lane that drives it"),
    ("pjrt", "core/pjrt", "plugins of accelerators: clients, buffers, compiled modules"),
    ("cpu", "core/cpu", "the CPU: kernels, fused kernels, threads, cgroup limits, BLAS"),
    ("placement", "core/placement", "where an operation runs: on a device, or on the host between copies"),
    ("python", "core/python", "the extension module: array type, dispatch, autograd"),
    ("embed", "core/embed", "the engine for C++ programs: include/forerun/forerun.h"),
    ("_runtime", "_runtime", "the engine for Python: settings, devices, waits, life cycle"),
    ("_display", "_display", "progress bars, terminals, notebooks"),
    ("_launch", "_launch", "starts ranks, sees how each ends, and tells the others"),
    ("_codegen", "_codegen", "machine code for groups, by LLVM"),
    ("_live", "_live", "descriptions of running processes for `forerun top`"),
    ("autograd", "autograd", "recording, leaves, the backward pass"),
    ("ops", "ops", "operations and their gradients, a folder per subject"),
    ("_pjrt", "_pjrt", "operations as modules for PJRT plugins"),
    ("_io", "_io safetensors", "files as operations"),
    ("_capture", "_capture", "capture of calls and replay as programs"),
    ("_array", "_array typing", "the ndarray class and NumPy's protocols"),
    ("_interop", "_interop", "DLPack, Dask, einops, import hooks"),
    ("np", "np npx nd extend", "public namespaces: names over ops"),
    ("distributed", "distributed kvstore", "operations between ranks, shards, checkpoints"),
    ("gluon", "gluon init optimizer lr_scheduler metric image", "blocks, layers, data, training"),
    ("torch, mxnet, d2l", "torch d2l compat as_numpy onnx sklearn", "the programs of other libraries"),
    ("profiler", "profiler", "reports, timelines, graphs"),
    ("cli, tour", "cli tour testing pytest_plugin __main__", "the command, its experiments, test tools"),
]
WIRING = "_wiring"  # registers Python's functions with the core; `np` imports it, so it is above all and below np

WIDE, HIGH, GAP, APART, MARGIN, BEND = 196, 52, 22, 44, 24, 16
FILL = {True: ("#e8f1f8", "#0b5e8a"), False: ("#fdf3e3", "#b26a00")}  # C++, Python


def room_of(part: str) -> str:
    """Return the name of the box that a folder or a module is drawn in."""
    found = [name for name, parts, _ in ROOMS if part in parts.split()]
    return found[0] if found else part.removeprefix("core/")


def edges(root: Path = ROOT) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Count the imports between boxes: those at the top of files, and those inside of functions."""
    early, late = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for source, target in includes(root):
        early[room_of(f"core/{source.split('/')[0]}"), room_of(f"core/{target.split('/')[0]}")] += 1
    for found in imports(root):
        parts = [(*name.split("."), "")[1] for name in (found.source, found.target)]
        if "" in parts or WIRING in parts:
            continue  # the package itself puts the parts together
        a, b = ("python" if part == "_core" else room_of(part) for part in parts)
        (late if found.late else early)[a, b] += 1
    return Counter({k: n for k, n in early.items() if k[0] != k[1]}), Counter(
        {k: n for k, n in late.items() if k[0] != k[1] and k not in early}
    )


def rooms(root: Path = ROOT) -> dict[str, tuple[list[str], str]]:
    """Return the boxes of this tree from the bottom up: the paths in each, and their purpose."""
    there = {f"core/{path.name}": f"core/{path.name}" for path in sorted((root / "core").iterdir()) if path.is_dir()}
    for path in sorted((root / "src" / "forerun").iterdir()):
        if path.suffix == ".py" or (path / "__init__.py").exists():
            there[path.stem] = f"src/forerun/{path.name}"
    for part in ("core/tests", "__init__", "_core", WIRING):
        there.pop(part, None)
    found: dict[str, tuple[list[str], str]] = {}
    for name, parts, about in ROOMS:
        if paths := [there.pop(part) for part in parts.split() if part in there]:
            found[name] = (paths, about)
    return found | {part.removeprefix("core/"): ([path], "") for part, path in there.items()}


def reduced(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Leave out the edges that a longer way implies. The graph has no circles."""

    def reach(name: str) -> set[str]:
        return set().union(*({b} | reach(b) for b in graph[name])) if graph[name] else set()

    return {a: {b for b in graph[a] if not any(b in reach(c) for c in graph[a] - {b})} for a in graph}


def picture(root: Path = ROOT) -> str:
    """Return the SVG."""
    found, (early, late) = rooms(root), edges(root)
    names = list(found)
    graph = {name: {b for a, b in early if a == name} for name in names}
    if around := circles(graph):
        raise SystemExit(f"folders import each other in circles: {around}")
    few = reduced(graph)
    number = {name: i for i, name in enumerate(names)}
    layers = layered({number[a]: sorted(number[b] for b in few[a]) for a in names}, key=lambda n: n)

    def width(node: Node) -> float:
        return BEND if isinstance(node, tuple) else WIDE + GAP

    across = places(layers, width)
    level = {node: i for i, row in enumerate(layers.rows) for node in row}
    tops = list(accumulate((HIGH + APART for _ in layers.rows), initial=MARGIN + 40))[:-1][::-1]
    total = max(x + width(n) / 2 for n, x in across.items()) + 2 * MARGIN

    def way(path: list[Node]) -> str:
        """Draw an arrow from a box down to the box that it imports."""
        points = []
        for node in reversed(path):
            x, y = across[node] + MARGIN, tops[level[node]]
            points += [(x, y), (x, y + HIGH)] if isinstance(node, tuple) else [(x, y)]
        points[0] = (points[0][0], points[0][1] + HIGH)
        d = f"M{points[0][0]:.0f} {points[0][1]:.0f}"
        for (x, y), (u, v) in pairwise(points):
            d += f"L{u:.0f} {v:.0f}" if x == u else f"C{x:.0f} {y + 26:.0f} {u:.0f} {v - 26:.0f} {u:.0f} {v:.0f}"
        a, b = names[path[-1]], names[path[0]]  # type: ignore[index]
        return f'<path d="{d}" class="arrow"><title>{a} imports {b}</title></path>'

    parts = [way(path) for path in layers.paths]
    for a, b in sorted(late):
        (x, u), (y, v) = (across[number[n]] + MARGIN for n in (a, b)), (tops[level[number[n]]] for n in (a, b))
        y, v = (y, v + HIGH) if y > v else (y + HIGH, v)
        d = f"M{x + 40:.0f} {y:.0f}C{x + 40:.0f} {y - 26:.0f} {u + 40:.0f} {v + 26:.0f} {u + 40:.0f} {v:.0f}"
        if y > v:  # upwards; downwards the arrows above say it
            parts.append(f'<path d="{d}" class="arrow late"><title>inside of functions</title></path>')
    for name in names:
        parts += box(across[number[name]] + MARGIN, tops[level[number[name]]], name, *found[name])
    return document(total, tops[0] + HIGH + MARGIN, parts)


def box(x: float, y: float, name: str, paths: list[str], about: str) -> list[str]:
    """Draw a box with the name and its purpose in one or two lines."""
    fill, line = FILL[paths[0].startswith("core/")]
    found = [
        f'<rect x="{x - WIDE / 2:.0f}" y="{y}" width="{WIDE}" height="{HIGH}" rx="4" fill="{fill}" stroke="{line}"/>',
        f'<text x="{x:.0f}" y="{y + 17}" font-size="13" font-weight="600">{name}</text>',
    ]
    return found + [
        f'<text x="{x:.0f}" y="{y + 31 + 13 * i}" font-size="10.5">{text}</text>'
        for i, text in enumerate(wrapped(about))
    ]


def wrapped(text: str, most: int = 34) -> list[str]:
    """Break a text into lines."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= most:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def document(width: float, height: float, parts: list[str]) -> str:
    """Return an SVG with the head of this picture."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}">'
    style = (
        "<style>text{font-family:sans-serif;fill:#1f2933;text-anchor:middle}"
        ".arrow{fill:none;stroke:#8a97a5;stroke-width:1.3;marker-end:url(#tip)}.late{stroke-dasharray:4 3}</style>"
    )
    tip = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7.2" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0.8 7.5 4 0 7.2z" fill="#8a97a5"/></marker></defs>'
    )
    legend = []
    for i, (words, colours) in enumerate({"Python, src/forerun/": FILL[False], "C++, core/": FILL[True]}.items()):
        x, (fill, line) = MARGIN + 170 * i, colours
        legend.append(f'<rect x="{x}" y="{MARGIN - 4}" width="14" height="14" rx="3" fill="{fill}" stroke="{line}"/>')
        legend.append(f'<text x="{x + 21}" y="{MARGIN + 8}" font-size="12" style="text-anchor:start">{words}</text>')
    note = "an arrow: imports; dashed: inside of a function"
    legend.append(f'<text x="{MARGIN + 290}" y="{MARGIN + 8}" font-size="12" style="text-anchor:start">{note}</text>')
    ground = f'<rect width="{width:.0f}" height="{height:.0f}" fill="#fff"/>'
    return "\n".join([head, style, tip, ground, *legend, *parts, "</svg>\n"])


def table(root: Path = ROOT) -> str:
    """Return the boxes as a table of Markdown, from the bottom up."""
    rows = ["| folder | purpose |", "|---|---|"]
    for paths, about in rooms(root).values():
        names = [paths[0], *(path.rpartition("/")[2] for path in paths[1:])]
        rows.append(f"| {', '.join(f'`{name}`' for name in names)} | {about} |")
    return "\n".join(rows)


def page(text: str) -> str:
    """Return the page with the table of this tree."""
    return re.sub(f"{START}\n.*?{END}", lambda _: f"{START}\n{table()}\n{END}", text, flags=re.DOTALL)


def main(check: bool) -> None:
    """Write the picture and the table, or fail if they differ."""
    fresh = {PICTURE: picture(), PAGE: page(PAGE.read_text(encoding="utf-8"))}
    for file, text in fresh.items():
        if not check:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            sys.exit(f"{file.relative_to(ROOT)} is not up to date: run python tools/architecture.py")


if __name__ == "__main__":
    main("--check" in sys.argv)
