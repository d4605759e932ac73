"""Programs with the device that behaves like one far away (core/tests/fake_gpu), over the plugin of the tests."""

from __future__ import annotations

from tests.support.device_plugins.devices import NAME
from tests.support.device_plugins.plugins import FILES, fake_gpu, plugin_file
from tests.support.processes.subprocesses import execute

__all__ = ["fake_gpu_settings", "lines_with_fake_gpu"]

# Functions of the fake, and its devices; gpu has work before the other one, so it is number 0.
START = """
import ctypes
fake = ctypes.CDLL({path!r})
gpu, other = forerun.gpu(0), forerun.gpu(1)
def outcome(f):
    try:
        return f()
    except Exception as error:
        return f"{{type(error).__name__}}: {{error}}".partition("\\n")[0]
np.zeros(3, device=gpu).wait()
np.zeros(3, device=other).wait()
"""


def fake_gpu_settings(**of_the_fake: object) -> dict[str, str]:
    """Return the variables of a process that has the fake for its devices."""
    below = str(plugin_file(NAME if NAME in FILES else "fastatomstruct-xla-cpu"))
    more = {f"FORERUN_FAKE_GPU_{name.upper()}": str(value) for name, value in of_the_fake.items()}
    return {
        "FORERUN_PJRT": str(fake_gpu()), "FORERUN_MODULE_CACHE": "", "FORERUN_FAKE_GPU_PLUGIN": below, **more,
    }  # fmt: skip


def lines_with_fake_gpu(program: str, **of_the_fake: object) -> list[str]:
    """Return the lines that a program prints that has the fake for its devices."""
    variables = fake_gpu_settings(**of_the_fake)
    done = execute(START.format(path=variables["FORERUN_PJRT"]) + program, **variables)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()
