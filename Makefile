# The short way to everything; Meson does the work, under build/.
# `make help` lists the targets.  V=1 shows every command.
PREFIX ?= /usr/local
DESTDIR ?=
BUILD := build
MAKEFLAGS += --no-print-directory
export V PREFIX DESTDIR

.PHONY: all help demo test test-core test-all test-faults test-kills test-nets test-power test-stores hostile coverage analyze install bench soak bench-spark quality fuzz man format lint clean wheel release bench-peers
.DEFAULT_GOAL := all

all: ## build the command and the library (build/neardup, build/libneardup.so)
	@tools/install-deps build
	@tools/build $(BUILD)

demo: all ## find the near-duplicates of the documents in examples/
	@tools/demo

test: ## every feature, in ten minutes on two cores
	@tools/install-deps build
	@tests/run

test-core: ## the quick part: the release build only, no sanitizers
	@tools/install-deps build
	@tests/run --core

test-all: ## the whole matrix: sanitizers, kills, failures at every place, browser, Spark (35 minutes)
	@tools/install-deps build
	@tests/run --all

test-faults: ## every allocation, system call and thread fails in turn (half an hour)
	@tools/install-deps build test
	@tools/build $(BUILD)/asan --buildtype=debugoptimized -Db_lundef=false -Dman=disabled \
	  -Db_sanitize=address,undefined
	@export TMPDIR=$$(test -w /dev/shm && echo /dev/shm || echo $${TMPDIR:-/tmp}); \
	  { seq 0 31 | xargs -P $$(getconf _NPROCESSORS_ONLN) -I PART env NEARDUP_FAULTS=all:PART/32 \
	      $(BUILD)/asan/tests/unit/test_faults && \
	    NEARDUP_FAULTS=all $(BUILD)/asan/tests/unit/test_pipeline; echo "ended with $$?"; } | \
	  tee $(BUILD)/faults.log; \
	  awk '/^ended with / { status = $$3 } / failures$$/ { sum += $$(NF - 1) } \
	       / failures tried/ { sum += $$1 } \
	       END { print sum " failures in all"; exit status }' $(BUILD)/faults.log

test-kills: all ## dedup is killed at every file call, and KILLS (200) times at random
	@tools/install-deps test
	@NEARDUP_KILLS=all $(BUILD)/tests/unit/test_kills
	@tests/promises/run.py --kills $(or $(KILLS),200) SIGKILL damaged Ctrl-C directory

test-nets: all ## permissions, memory limits, quotas, full disks, clocks, 2 million files, long paths (root)
	@tests/nets/run.py

test-power: all ## the power of a disk is cut at MOMENTS (50) of every command that writes (as root)
	@tests/power/run.py --slow --moments $(or $(MOMENTS),50)

test-stores: all ## the Spark job on HDFS and S3, served on loopback (fetches 60 MB once)
	@tools/install-deps java
	@tests/stores/run.py

hostile: all ## time and memory of hostile input at n and 2n, written to docs/testing.md
	@bench/hostile.py --write

coverage: ## branches of src/ that the tests take, by gcovr (tools/coverage; QUICK=1: no faults)
	@tools/install-deps build test coverage
	@tools/coverage $(if $(QUICK),--quick)

analyze: ## gcc's own analyzer over src/ (tools/analyze)
	@tools/install-deps build
	@tools/analyze

install: all ## install below PREFIX (/usr/local); DESTDIR stages a package
	@meson install -C $(BUILD) --no-rebuild --quiet
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig 2>/dev/null || true; fi
	@echo "installed below $(DESTDIR)$(PREFIX)"

bench: all ## measure speed and memory (bench/run)
	@bench/run

soak: all ## what takes hours: 10 million documents (45 GB of disk), every failure, fuzzing
	@bench/soak.py --write
	@$(MAKE) test-faults test-kills test-nets test-power test-stores fuzz SECONDS=$(or $(SECONDS),1800)

bench-spark: all ## the Spark job beside the one-machine command (bench/spark.py)
	@tools/install-deps java
	@bench/spark.py

wheel: ## the Python package as a wheel, in build/wheel
	@tools/install-deps build
	@tools/python-env --wheel

release: ## source archive, wheel, Debian package and checksums, in build/release (DRAFT=1: undated)
	@tools/install-deps build man
	@tools/release $(if $(DRAFT),--draft)

fuzz: ## fuzz every reader for SECONDS (60) each, with clang's libFuzzer
	@tools/install-deps build fuzz
	@fuzz/run --seconds $(or $(SECONDS),60)

bench-peers: all ## speed beside other MinHash libraries, written to docs/peers.md
	@tools/python-env && tools/python-env --peers
	@build/venv/bin/python bench/peers.py --write

quality: all ## precision and recall on gold sets, written to docs/quality.md
	@bench/quality.py

man: ## the manual pages, in build/man
	@tools/install-deps build man
	@tools/build $(BUILD) -Dman=enabled
	@ls $(BUILD)/man/*.[1-8]

format: ## clang-format all C files in place
	@tools/install-deps lint
	@tools/format

lint: all ## clang-tidy over src/, warnings are errors
	@tools/install-deps lint
	@tools/lint

clean: ## remove build/
	@rm -rf $(BUILD)

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | \
	  awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'
