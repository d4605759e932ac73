"""Compiles the modules that forerun's tests write for a GPU that need not be there, with the GPU's own compiler.

    python tools/gpu_compile.py PLUGIN [--folder build/gpu/modules] [--target h100]

The folder has the modules as files (tests/support/pytest_plugins/module_collector.py writes them; `make gpu-compile`
does both). Each is compiled, as for a GPU at hand, to give the same bits in every run; where the compiler needs a GPU
for that (it tries algorithms for products there), without that demand, and these are counted. Those that fail are
listed with the compiler's text, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Descriptions of processors, in the text form of XLA's GpuTargetConfigProto: facts of the makers' data sheets.
TARGETS = {
    "h100": """
        gpu_device_info {
          threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152
          shared_memory_per_core: 233472 threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
          block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
          memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98
          device_memory_size: 84929347584 shared_memory_per_block_optin: 232448
          cuda_compute_capability { major: 9 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
        }
        runtime_version: { major: 13 minor: 0 patch: 0 }
        platform_name: "CUDA" dnn_version_info { major: 9 minor: 12 }
        device_description_str: "NVIDIA H100 80GB HBM3"
    """
}


def compile_some(plugin: str, target: str, files: list[Path]) -> list[tuple[float | str, bool]]:
    """Return the seconds that each module took, or the compiler's text; and whether its bits are always the same."""
    from forerun import _core

    options = {"target_config": TARGETS[target], "topology": "1x1x1"}
    texts = [file.read_text() for file in files]
    found = [(result, True) for result in _core.pjrt_compile_for(plugin, options, texts)]
    for i, (result, _) in enumerate(found):
        if isinstance(result, str) and "in deviceless mode" in result:
            found[i] = _core.pjrt_compile_for(plugin, options, texts[i : i + 1], deterministic=False)[0], False
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plugin", help="the plugin's library")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "gpu" / "modules")
    parser.add_argument("--target", choices=TARGETS, default="h100")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # the compiler notes each module
    files = sorted(options.folder.glob("*.mlir"))
    if not files:
        sys.exit(f"gpu_compile: the folder must have modules, got none in {options.folder}")
    parts = [files[i :: options.jobs] for i in range(options.jobs)]
    results: dict[Path, tuple[float | str, bool]] = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(compile_some, options.plugin, options.target, part) for part in parts]
        for part, job in zip(parts, jobs, strict=True):
            results.update(zip(part, job.result(), strict=True))
    failed = {file: text for file, (text, _) in results.items() if isinstance(text, str)}
    seconds = [took for took, _ in results.values() if not isinstance(took, str)]
    open_ones = sum(not same_bits for _, same_bits in results.values())
    for file, text in sorted(failed.items()):
        print(f"{file.name}: {text}")
    print(f"{len(seconds)} of {len(files)} modules compiled for {options.target}", end="")
    if seconds:
        print(f", median {statistics.median(seconds) * 1e3:.0f} ms, longest {max(seconds):.1f} s", end="")
    if open_ones:
        print(
            f"; {open_ones} of them have products whose algorithm only a GPU at hand can select for the same bits",
            end="",
        )
    print()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
