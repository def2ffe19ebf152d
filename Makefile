# Piton: every job is one word. A bare Debian 12 or 13 machine is enough: `make demo`.
#
#   make demo      sets up everything and runs the main job (examples/demo.py)
#   make test      sets up everything and runs the CI set
#   make test-all  fuzzing, both kinds of installation, the CI set, the sanitizers, a build
#                  without the distributed part, long matrices
#   make bench     the speed table, as ratios in one run
#   make check     format, lint, layering, docs, quick tests (what CI runs first)
#   make fuzz      the Triton IR fuzzer, for FUZZ_SECONDS
#   make install   both wheels (piton-npu and piton-torch) into .venv
#   make setup     only installs what is missing; make build only builds

PRESET ?= release
BUILD := build/$(PRESET)
VENV := .venv
PYTHON := $(VENV)/bin/python
FUZZ_SECONDS ?= 60
export CCACHE_SLOPPINESS := pch_defines,time_macros
export CCACHE_BASEDIR := $(CURDIR)
RUN := env PYTHONPATH=$(CURDIR)/$(BUILD)/python PATH=$(CURDIR)/$(BUILD)/tools:$(PATH)

.PHONY: demo test test-all bench check fuzz install setup build clean help

help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile

demo: build
	$(RUN) $(PYTHON) examples/demo.py

test: build
	scripts/test --build $(BUILD)

test-all: build
	scripts/fuzz --seconds $(FUZZ_SECONDS)
	scripts/check-install
	scripts/test --build $(BUILD) --all

bench: build
	scripts/setup-bench
	cmake --build $(BUILD) --target launch_bench shmem_kernel_bench shmem_host_bench
	$(RUN) $(PYTHON) benchmarks/bench.py

check: build
	scripts/check --build $(BUILD)

fuzz: setup
	scripts/fuzz --seconds $(FUZZ_SECONDS)

install: export CMAKE_C_COMPILER_LAUNCHER = $(shell command -v ccache)
install: export CMAKE_CXX_COMPILER_LAUNCHER = $(shell command -v ccache)
install: build
	$(PYTHON) -m pip install -q --no-build-isolation --no-deps .
	$(PYTHON) -m pip install -q --no-build-isolation --no-deps ./python/torch_device

build: setup
	@test -f $(BUILD)/build.ninja || cmake --preset $(PRESET) -DPython_EXECUTABLE=$(CURDIR)/$(PYTHON)
	cmake --build $(BUILD)

setup: $(VENV)/.ready

$(VENV)/.ready: scripts/setup
	scripts/setup $(VENV)
	@touch $@

clean:
	rm -rf build
