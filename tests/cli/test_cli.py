"""The command `forerun`: output for people and programs, exit statuses, and errors before anything runs."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import forerun
from forerun import cli
from forerun._display.terminal import Terminal, columns
from forerun._runtime.settings import KNOWN, VARIABLES
from forerun.cli import bench
from forerun.tour.experiments import BENCH
from forerun.tour.experiments.libraries import PROGRAMS, Library, Program, libraries, measured
from forerun.tour.finding import Run
from tests.support.engine.settings import running
from tests.support.paths import ROOT

COMMANDS = ("tour", "bench", "trace", "top", "info")


def forerun_command(*words: str, folder: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs the command in a Python of its own, without a terminal."""
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")} | variables
    return subprocess.run(
        [sys.executable, "-m", "forerun", *words],
        capture_output=True, text=True, timeout=120, cwd=folder, env=environment, check=False,
    )  # fmt: skip


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A program that multiplies, looks, and ends as its argument says."""
    folder = tmp_path / "programs"  # not the one that the command is called in
    folder.mkdir()
    (folder / "beside.py").write_text("size = 30\n")
    file = folder / "program.py"
    file.write_text(
        "import sys\n"
        "from beside import size\n"
        "from forerun import np\n"
        "x = np.ones((size, size))\n"
        "print('total', (x @ x).sum().item(), sys.argv[1:], __name__)\n"
        "how = sys.argv[1] if sys.argv[1:] else ''\n"
        "if how == 'raise': 1 / 0\n"
        "if how == 'exit': sys.exit(7)\n"
        "if how == 'words': sys.exit('a reason')\n"
        "if how == 'lost': lost = np.linalg.inv(np.zeros((2, 2)))\n"
        "if how == 'interrupt': raise KeyboardInterrupt\n"
    )
    return file


class TestHelp:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_has_examples_that_parse(self, command, capsys):
        """The examples of the help are valid: the parser accepts each."""
        with pytest.raises(SystemExit) as leaving:
            cli.main([command, "--help"])
        assert leaving.value.code == 0
        text = capsys.readouterr().out
        examples = re.findall(rf"^  (?:\S+=\S+ |taskset -c 0 )*forerun ({command}\b.*?)(?:   |>|$)", text, re.MULTILINE)
        assert len(examples) >= 2
        for example in examples:
            assert cli._parser().parse_args(example.split()).command == command

    def test_without_a_command(self, capsys):
        assert cli.main([]) == 2
        assert "forerun info" in capsys.readouterr().err

    def test_version(self, capsys):
        with pytest.raises(SystemExit):
            cli.main(["--version"])
        assert capsys.readouterr().out == f"forerun {forerun.__version__}\n"


class TestMisuse:
    """One line, no traceback, status 2, and nothing has run."""

    def check(self, done: subprocess.CompletedProcess[str], *words: str) -> None:
        assert done.returncode == 2
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        assert all(word in line for word in words)

    def test_no_script(self, tmp_path):
        self.check(forerun_command("trace", "nothing.py", folder=tmp_path), "no such script", "nothing.py")

    def test_no_module(self, tmp_path):
        self.check(
            forerun_command("trace", "-m", "nothing.at.all", folder=tmp_path),
            "no such module: nothing.at.all",
        )

    def test_no_row(self):
        self.check(forerun_command("bench", "--rows", "chain", "nothing"), "no such row: nothing", "softmax")

    @pytest.mark.parametrize("command", ["trace", "tour"])
    def test_a_folder_that_cannot_be_made(self, command, script, tmp_path):
        (tmp_path / "file").touch()
        words = [
            command,
            "--out",
            str(tmp_path / "file" / "x"),
            *([str(script)] if command == "trace" else []),
        ]
        self.check(forerun_command(*words, folder=tmp_path), "cannot make the folder")

    def test_a_report_that_cannot_be_written(self, script, tmp_path):
        (tmp_path / "build/trace/program.html").mkdir(parents=True)
        self.check(forerun_command("trace", str(script), folder=tmp_path), "cannot write to build/trace/program.html")

    @pytest.mark.parametrize(
        "command", [[sys.executable, "-m", "forerun"], [str(Path(sys.executable).with_name("forerun"))]]
    )
    def test_a_wrong_setting_in_the_environment(self, command):
        done = subprocess.run(
            [*command, "info"], capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "FORERUN_WORKERS": "two"},
        )  # fmt: skip
        self.check(done, "FORERUN_WORKERS: must be an integer, got 'two'")

    def test_a_program_gets_the_exception(self):
        done = subprocess.run(
            [sys.executable, "-c", "import forerun"], capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "FORERUN_WORKERS": "0"},
        )  # fmt: skip
        assert "ValueError: configure: workers must be between 1" in done.stderr

    def test_an_unknown_option(self):
        done = forerun_command("info", "--nothing")
        assert done.returncode == 2
        assert "Traceback" not in done.stderr


class TestTrace:
    @pytest.mark.parametrize(
        ("how", "status", "message"),
        [
            ("", 0, ""), ("raise", 1, "ZeroDivisionError"), ("exit", 7, ""), ("words", 1, "a reason"),
            ("lost", 1, "program.py:10: an error that no read has raised"), ("interrupt", 130, "KeyboardInterrupt"),
        ],
    )  # fmt: skip
    def test_the_status_is_the_scripts_and_the_report_comes(self, how, status, message, script, tmp_path):
        done = forerun_command("trace", str(script), *([how] if how else []), folder=tmp_path)
        assert done.returncode == status, done.stderr
        assert message in done.stderr
        assert "matmul" in done.stdout
        assert (tmp_path / "build/trace/program.html").read_text().startswith("<!doctype html>")

    def test_a_traceback_shows_the_program_alone(self, script, tmp_path):
        done = forerun_command("trace", str(script), "raise", folder=tmp_path)
        assert re.findall(r'File "(.*?)"', done.stderr) == [str(script)]

    def test_the_script_runs_as_python_runs_it(self, script, tmp_path):
        done = forerun_command("trace", str(script), "--epochs", "2", folder=tmp_path)
        plain = subprocess.run(
            [sys.executable, str(script), "--epochs", "2"],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert done.stdout.startswith(plain.stdout)
        assert "__main__" in plain.stdout

    def test_a_module(self, script, tmp_path):
        assert forerun_command("trace", "-m", "program", "exit", folder=script.parent).returncode == 7

    def test_standard_output_has_only_json(self, script, tmp_path):
        done = forerun_command("trace", "--json", str(script), "exit", folder=tmp_path)
        assert done.returncode == 7
        assert "total" in done.stderr
        report = json.loads(done.stdout)
        assert "matmul" in [op["name"] for op in report["ops"]]
        assert report["bound"]["says"]
        (wait,) = report["waits"]
        assert (wait["where"], wait["call"], wait["waits"] + wait["reads"]) == (f"{script}:5", "item", 1)
        assert wait["instead"]

    def test_trace_of_a_killed_script(self, tmp_path):
        program = "import os\nfrom forerun import np\nx = np.ones((50, 50))\n(x @ x).wait()\nos.kill(os.getpid(), 9)\n"
        (tmp_path / "dies.py").write_text(program)
        assert forerun_command("trace", "dies.py", folder=tmp_path).returncode == -9
        shown = forerun_command("trace", "build/trace/dies.frec", folder=tmp_path)
        assert shown.returncode == 0
        assert "the process died while it recorded" in shown.stdout
        assert "dies.py:4" in shown.stdout
        assert (tmp_path / "build/trace/dies.html").exists()

    def test_trace_of_an_invalid_recording_fails(self, tmp_path):
        (tmp_path / "no.trace").write_bytes(bytes(9000))
        done = forerun_command("trace", "no.trace", folder=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert "cannot show no.trace" in done.stderr

    @pytest.mark.parametrize("end", ["", "raise SystemExit", "1 / 0"])
    def test_pending_work_at_the_end_is_reported_without_a_wait(self, end, tmp_path):
        program = f"from forerun import np\nx = np.ones((500, 500))\nfor _ in range(9): x = x @ x\n{end}\n"
        (tmp_path / "long.py").write_text(program)
        report = json.loads(forerun_command("trace", "--json", "long.py", folder=tmp_path).stdout)
        assert report["waits"] == []
        assert sum(op["count"] for op in report["ops"]) >= 9


class TestRun:
    """With forerun as NumPy: tests/as_numpy/test_as_numpy.py."""

    def test_with_forerun_as_mxnet(self, tmp_path):
        (tmp_path / "train.py").write_text(
            "import sys\n"
            "from mxnet import np, npx\n"
            "from mxnet.gluon import nn\n"
            "npx.set_np()\n"
            "net = nn.Dense(2)\n"
            "net.initialize()\n"
            "print(net(np.ones((1, 3))).shape, sys.argv[1:])\n"
        )
        done = forerun_command("run", "--as-mxnet", "train.py", "--epochs", "5", folder=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, "(1, 2) ['--epochs', '5']\n", "")


class TestInfo:
    def test_shows_settings_in_force_and_their_sources(self):
        done = forerun_command("info", "--json", FORERUN_CPU_DEVICES="2", FORERUN_WORKERS="3", FORERUN_NOTHING="x")
        facts = json.loads(done.stdout)
        assert facts["settings"]["cpu_devices"] == 2
        assert [facts["workers"][f"cpu({i})"] for i in range(2)] == [3, 3]
        assert "workers=3" in facts["workers"]["why"]
        assert facts["environment"]["FORERUN_WORKERS"] == "3"
        assert facts["environment"]["not known to forerun"] == ["FORERUN_NOTHING"]
        assert re.match(r"(GCC|Clang) \d+.*C\+\+\d\d", facts["versions"]["built with"])

    def test_every_environment_variable_is_known_and_documented(self):
        """One that is not would be called a mistake of the user's."""
        read = {
            name
            for folder, ending in (("src/forerun", "*.py"), ("core", "*.cpp"))
            for file in (ROOT / folder).rglob(ending)
            if "tests" not in file.relative_to(ROOT).parts
            for name in re.findall(r"""["'`](FORERUN_[A-Z_]+)\b(?!_)""", file.read_text())
        }
        described = set(re.findall(r"`(FORERUN_[A-Z_]+)`", (ROOT / "docs/reference/settings.md").read_text()))
        assert read <= KNOWN
        assert set(VARIABLES) <= described

    def test_keeps_secrets(self):
        done = forerun_command("info", "--json", SOME_TOKEN="hidden", OPENBLAS_CORETYPE="Haswell")
        assert "hidden" not in done.stdout
        facts = json.loads(done.stdout)
        assert facts["environment"]["OPENBLAS_CORETYPE"] == "Haswell"
        assert facts["products"]["kernel"] == "Haswell"

    def test_one_core_of_several(self):
        program = (
            "import os\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
            "from forerun.cli import main\nmain(['info', '--json'])"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
        workers = json.loads(done.stdout)["workers"]
        assert workers["cpu(0)"] == 1
        assert ("the affinity mask has 1 of" in workers["why"]) == (os.cpu_count() != 1)

    def test_in_words(self):
        done = forerun_command("info")
        assert done.returncode == 0
        assert re.search(r"^  NumPy +2\.", done.stdout, re.MULTILINE)
        assert re.search(r"^  workers +automatic$", done.stdout, re.MULTILINE)
        assert "\033" not in done.stdout


class TestBench:
    def quick(self) -> Run:
        return Run(True, Path(), 3, {})

    def test_issued_comes_before_completed(self):
        done = forerun_command("bench", "--quick", "--json")
        answer = json.loads(done.stdout)
        found = answer["rows"]
        assert (done.returncode, list(found)) == (0, [row.name for row in BENCH])
        assert f"forerun {forerun.__version__}, NumPy {numpy.__version__}" in answer["machine"]["versions"]
        for row in found.values():
            assert {"forerun", "NumPy"} <= set(row)
            assert all(0 < one["issued"] <= one["completed"] for one in row.values())
            assert row["NumPy"]["to NumPy"] == 1

    def test_in_words(self):
        done = forerun_command("bench", "--quick", "--rows", "gelu")
        assert re.search(r"issued +completed +to NumPy +dropped\n  forerun .* x +0\n", done.stdout)
        assert "softmax" not in done.stdout

    def test_dropped_operations_are_listed(self):
        """A row that throws its results away is timed, and says so."""
        thrown = Program("thrown away", ((1 << 16,),), ((1 << 16,),), lambda xp, x: [*(x + i for i in range(9))][-1:])
        with running("1 worker"):
            found = measured(thrown, self.quick())
        row = bench._figures(found)
        assert (row["forerun"]["dropped"], row["NumPy"]["dropped"]) == (8, 0)
        assert found.answers == ["forerun (8 operations dropped: result never read)"]

    def test_a_wrong_result_has_no_time(self):
        library = libraries()["forerun"]
        wrong = Library(library.xp, lambda a: library.array(a + 1), library.wait)
        found = measured(PROGRAMS["chain"], self.quick(), {"wrong": wrong, "NumPy": libraries()["NumPy"]})
        assert bench._figures(found)["wrong"] == {"wrong": "other results than NumPy"}
        assert not found.ok

    def test_completed_time_includes_the_values(self):
        """The wait that ends a measurement is asked for after the calls, once in each round."""
        calls: list[str] = []
        library = libraries()["forerun"]

        def wait(results: object) -> None:
            calls.append("wait")
            library.wait(results)

        peers = {"forerun": Library(library.xp, library.array, wait), "NumPy": libraries()["NumPy"]}
        measured(PROGRAMS["chain"], self.quick(), peers)
        assert len(calls) == 4


def in_a_terminal(*words: str, **variables: str) -> str:
    """What a command writes where standard output and error are a terminal."""
    terminal, program_end = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")} | {"TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, "-m", "forerun", *words], stdout=program_end, stderr=program_end, env=environment | variables
    )
    os.close(program_end)
    found = b""
    try:
        while piece := os.read(terminal, 65536):
            found += piece
    except OSError:  # the other end has been closed
        pass
    os.close(terminal)
    assert process.wait(60) == 0
    return found.decode()


class TestTerminal:
    def test_colours_and_a_bar(self):
        text = in_a_terminal("bench", "--quick", "--rows", "chain")
        assert "\033[1;36m" in text
        assert "█" in text or "0/1 chain" in text

    def test_a_report(self, script, monkeypatch, tmp_path):
        monkeypatch.chdir(tmp_path)
        text = in_a_terminal("trace", str(script))
        assert re.search(r"\033\[1m[\d.,]+ .*ops", text)

    def test_styles_of_a_report(self):
        report = [
            "3 ms, 7 ops",
            "90% waits",
            "",
            "op  count",
            "---------",
            "add     1",
            "",
            "instead",
            "-------",
            "x.py:5: keep it",
            "",
            "rest",
        ]
        styles = [code for _, code in cli.trace._styled(report)]
        assert styles == ["1", "1;33", "", "", "2", "", "", "32", "2", "32", "", ""]

    def test_no_color(self):
        text = in_a_terminal("bench", "--quick", "--rows", "chain", NO_COLOR="1")
        assert not re.search(r"\033\[[\d;]*m", text)
        assert "0/1 chain" in text

    def test_dumb(self):
        assert "\033" not in in_a_terminal("bench", "--quick", "--rows", "chain", TERM="dumb")

    def test_json_in_a_terminal_has_no_colours(self):
        json.loads(in_a_terminal("info", "--json"))

    def test_ascii(self):
        done = forerun_command("bench", "--quick", "--rows", "chain", PYTHONIOENCODING="ascii")
        assert done.returncode == 0, done.stderr
        assert "-----" in done.stdout

    def test_a_narrow_table_breaks_its_first_column(self):
        rows = [("what", "ms"), ("a rather long name of a row", "12.5")]
        assert max(map(len, columns(rows, 20))) <= 20
        assert "".join(columns(rows, 20)).replace(" ", "").count("row") == 1

    def test_wrapped_text(self, capsys):
        screen = Terminal()
        screen.width = 20
        screen.text("word " * 20)
        assert max(map(len, capsys.readouterr().out.splitlines())) <= 20


def test_closed_pipe():
    """As in `forerun info | true`: no traceback, and the status of a program that SIGPIPE has ended."""
    reads, writes = os.pipe()
    os.close(reads)
    command = [sys.executable, "-m", "forerun", "info"]
    done = subprocess.run(command, stdout=writes, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writes)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


def test_interrupted(monkeypatch, capsys):
    def interrupted(*given: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.info, "run", interrupted)
    assert cli.main(["info"]) == 128 + signal.SIGINT
    assert capsys.readouterr().err == "forerun info: interrupted\n"
