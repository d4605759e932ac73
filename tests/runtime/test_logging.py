"""Messages of the log: silent by default, and logged where the program waits anyway."""

from __future__ import annotations

import logging

import pytest

import forerun
from forerun import np
from forerun._runtime.logging import say
from tests.support.processes.subprocesses import run_python

LISTENING = "import logging; logging.basicConfig(level='INFO', format='%(levelname)s %(name)s: %(message)s')\n"


@pytest.fixture
def log(queued: None, caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """The log from here on, with no thread started and no message queued. Small operations start threads, too."""
    forerun.configure(workers=1)
    caplog.set_level(logging.DEBUG, "forerun")
    caplog.clear()
    return caplog


class TestWorkers:
    def test_workers_start_with_the_first_operation_and_end_with_a_change(self, log):
        x = np.ones(3) + 1
        x.wait()
        forerun.waitall()
        forerun.configure(workers=2)
        ended = "all threads have ended; the next operation starts them again"
        assert log.messages == ["4 threads started", ended, "configured: workers=2"]

    def test_small_work_at_once_starts_none(self):
        program = "from forerun import np\nx = np.ones(3) + 1\nx.wait()"
        assert run_python(LISTENING + program).stderr == ""

    def test_workers_end_at_exit(self):
        program = "import forerun\nfrom forerun import np\nforerun.configure(workers=1)\nx = np.ones(100000) + 1"
        done = run_python(LISTENING + program)
        messages = [line.removeprefix("INFO forerun: ") for line in done.stderr.splitlines()]
        ended = "all threads have ended; the next operation starts them again"
        assert messages == ["configured: workers=1", "4 threads started", ended]

    def test_threads_that_the_system_refuses(self):
        program = (
            "import resource, threading\nfrom forerun import np\nimport forerun\n"
            "resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))\n"
            "forerun.configure(workers=4000)\n"
            "(np.ones(100000) + 1).wait(); forerun.waitall()"
        )
        done = run_python(LISTENING + program)
        assert "of 4003 threads could be started: the system refused the others" in done.stderr


class TestConfigure:
    def test_logs_changed_settings_and_nothing_else(self, log):
        before = forerun.config()["io_threads"]
        forerun.configure(io_threads=before + 1, engine="async")
        assert log.messages == [f"configured: io_threads={before + 1}"]
        log.clear()
        forerun.configure(io_threads=before + 1)
        assert log.messages == []


class TestRoom:
    def test_back_pressure_is_logged_once_a_second_at_most(self, log):
        forerun.configure(ops_ahead=8)
        kept = [np.ones(3) + i for i in range(4000)]
        forerun.waitall()
        del kept
        messages = [m for m in log.messages if m.startswith("window full")]
        assert 1 <= len(messages) < 20
        assert "ops_ahead operations are in flight" in messages[0]


class TestSilence:
    PROGRAM = (
        "import forerun\nfrom forerun import np\nforerun.configure(ops_ahead=8)\n"
        "forerun.waitall(); x = np.ones(3) * 2; x.wait()"
    )

    @pytest.mark.parametrize("before", ["", "import logging\n"])
    def test_by_default(self, before):
        done = run_python(before + self.PROGRAM, FORERUN_NOTHING="x")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    def test_logging_is_not_imported_for_its_own_sake(self):
        assert run_python(self.PROGRAM + "\nimport sys; print('logging' in sys.modules)").stdout == "False\n"

    def test_a_handler_that_fails_changes_nothing(self):
        program = (
            "import logging\n"
            "class Bad(logging.Handler):\n    def handle(self, record): raise RuntimeError('no disk')\n"
            "logging.getLogger('forerun').addHandler(Bad())\nlogging.getLogger('forerun').setLevel('INFO')\n"
            "from forerun import np\nprint((np.ones(100000) + 1)[:3].tolist())"
        )
        done = run_python(program)
        assert done.stdout == "[2.0, 2.0, 2.0]\n"
        assert "no disk" in done.stderr


class TestSurroundings:
    def test_unknown_environment_variable_is_logged(self):
        done = run_python(LISTENING + "import forerun", FORERUN_WORKRES="3")
        assert "WARNING forerun: environment: FORERUN_WORKRES is not a setting" in done.stderr
        assert "FORERUN_WORKERS" in done.stderr

    def test_a_limit_of_memory(self):
        limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32))\n"
        done = run_python(LISTENING + limit + "import forerun")
        assert f"memory: {1 << 32} bytes of the machine's" in done.stderr

    def test_unread_failures(self):
        done = run_python(LISTENING + "from forerun import np\nx = np.linalg.inv(np.zeros((2, 2)))")
        assert done.returncode == 1
        assert "ERROR forerun: <string>:3: an error that no read has raised: LinAlgError" in done.stderr


def test_a_handler_may_read_arrays(log):
    """A handler runs outside of the engine: it may wait, too."""

    class Reading(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append((np.ones(3) + 1).tolist())

    seen: list[list[float]] = []
    handler = Reading()
    logging.getLogger("forerun").addHandler(handler)
    try:
        (np.ones(3) + 1).wait()
        forerun.waitall()
    finally:
        logging.getLogger("forerun").removeHandler(handler)
    assert seen == [[2.0, 2.0, 2.0]]


def test_levels(log):
    say("debug", "%s and %d", "words", 3)
    assert [(r.levelname, r.getMessage(), r.name) for r in log.records] == [("DEBUG", "words and 3", "forerun")]
