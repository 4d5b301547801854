# Short names for the common commands; Meson and Ninja do the work. `make help` lists them.
BUILD ?= build
export PATH := $(CURDIR)/$(BUILD):$(PATH)

.PHONY: help demo build test test-python test-frameworks wheel page types fuzz fuzz-long tsan torture analyze coverage mutants bench dist deb static container install clean format

help:
	@echo "make demo      install few packages, build the program alone, and answer some first questions: two minutes"
	@echo "make test      install missing packages, build in three ways, run the tests (docs/testing.md)"
	@echo "make wheel     make a wheel of the Python package in dist/ (docs/reference/python.md)"
	@echo "make test-python      test the Python package, its types, its wheel and its documents (uses pip)"
	@echo "make test-frameworks  measure PyTorch, Hugging Face, Lightning, Keras, TensorFlow and Spark (9 GB by pip)"
	@echo "make build     build $(BUILD)/howmany"
	@echo "make page      rebuild the page of howmany serve: web/dist from web/src (needs Node)"
	@echo "make types     rewrite the types of the page and the functions of the Python package from the tables in src/request"
	@echo "make fuzz      fuzz each reader for a minute (needs clang)"
	@echo "make fuzz-long fuzz each reader a million times (FUZZ_RUNS), and add up the executions of all runs"
	@echo "make tsan      run the server and everything with threads under ThreadSanitizer"
	@echo "make torture   run the long tests: all trials, abuse of the server, kills of servers, commands and ranks, builds compared"
	@echo "make analyze   look for mistakes with gcc -fanalyzer, clang-tidy and cppcheck"
	@echo "make coverage  measure line and branch coverage, and write the table in docs/testing.md"
	@echo "make mutants   change the code in 200 places, and count the changes that the tests notice"
	@echo "make bench     measure against other programs and limits"
	@echo "make dist      make howmany-VERSION.tar.gz; unpack, build and test it"
	@echo "make deb       make a Debian package, and try it in a folder of its own"
	@echo "make static    make one program without shared libraries, and try it in an empty root"
	@echo "make container make the image of the server (Containerfile), and try it"
	@echo "make install   install into PREFIX, /usr/local by default"
	@echo "make format    format the C files"
	@echo "make clean     remove all builds"

build:
	@tools/setup build
	@test -f $(BUILD)/build.ninja || { echo "configure (once)"; meson setup $(BUILD) -Dtests=false >/dev/null; }
	@if [ -t 1 ]; then NINJA_STATUS='compile %f of %t: ' ninja -C $(BUILD); else echo compile; ninja -C $(BUILD) --quiet; fi

# The first answers within two minutes: only the program itself, with few packages and little optimisation, in a
# folder of its own. `make build` builds everything.
DEMO := build-demo
demo:
	@tools/setup demo
	@test -f $(DEMO)/build.ninja || { echo "configure (once)"; meson setup $(DEMO) -Dtests=false -Dman=disabled -Dmpi=disabled \
	  -Dsimgrid=disabled -Dmetis=disabled -Dopenblas=disabled -Dpostgres=disabled -Dzstd=disabled -Ddebug=false \
	  -Doptimization=1 >/dev/null; }
	@if [ -t 1 ]; then NINJA_STATUS='compile %f of %t: ' ninja -C $(DEMO) howmany; else echo compile; ninja -C $(DEMO) --quiet howmany; fi
	@echo
	@echo "\$$ howmany plan llama-3-8b --tokens 1T --on p5.48xlarge --deadline 30d"
	@$(DEMO)/howmany plan llama-3-8b --tokens 1T --on p5.48xlarge --deadline 30d
	@echo
	@echo "\$$ howmany plan examples/resnet50.yaml --on p4d.24xlarge,p5.48xlarge,g5.12xlarge --deadline 1h"
	@$(DEMO)/howmany plan examples/resnet50.yaml --on p4d.24xlarge,p5.48xlarge,g5.12xlarge --deadline 1h --no-chart
	@echo
	@echo "\$$ howmany fit examples/runs.csv --target 64"
	@$(DEMO)/howmany fit examples/runs.csv --target 64
	@echo
	@echo "\$$ howmany advise examples/mnist-traces.csv.gz --loss 1e-4"
	@$(DEMO)/howmany advise examples/mnist-traces.csv.gz --loss 1e-4
	@echo
	@echo "Now ask your own question:"
	@echo "  export PATH=\"$(CURDIR)/$(DEMO):\$$PATH\""
	@echo "  howmany plan                                   # asks for a model, a machine and the work"
	@echo "  howmany init -o job.yaml                       # writes a job file with comments"
	@echo "  howmany help                                   # the commands"
	@echo "  howmany plan examples/resnet50.yaml --on p4d.24xlarge --set batch=512"
	@echo "  howmany serve                                  # the same on a page in the browser"
	@echo "make install builds all parts (training, simulation, pictures) and installs them."

test:
	@tools/setup test
	@tools/run-tests

wheel:
	@tools/setup build
	@tools/make-wheel

test-python: build
	@ninja -C $(BUILD) --quiet python-verbs
	@tools/test-python

# Both on this machine and in a laboratory, also if something fails in the first.
test-frameworks: build
	@tools/setup frameworks
	@code=0; tools/run-frameworks || code=1; tools/run-frameworks --lab 5ms || code=1; exit $$code

page:
	@tools/setup page
	@cd web && npm ci --silent --ignore-scripts && npm run --silent build -- --logLevel warn

types: build
	@ninja -C $(BUILD) --quiet types python-verbs
	@$(BUILD)/types >web/src/types.gen.ts.new
	@mv web/src/types.gen.ts.new web/src/types.gen.ts
	@$(BUILD)/python-verbs >python/howmany/_verbs.py.new
	@mv python/howmany/_verbs.py.new python/howmany/_verbs.py

fuzz:
	@tools/setup test
	@tools/run-fuzz

fuzz-long:
	@tools/setup test
	@tools/run-fuzz-long

tsan:
	@tools/setup test
	@test -f build-tsan/build.ninja || CC=clang meson setup build-tsan -Db_sanitize=thread -Db_lundef=false >/dev/null
	@ninja -C build-tsan --quiet
	@meson test -C build-tsan --no-rebuild --print-errorlogs serve serve_store serve_store_postgres 'fuzz corpus request'

torture: build
	@tools/setup test
	@tools/run-torture

analyze: build
	@tools/setup analyze
	@tools/run-analyze $(BUILD)

coverage:
	@tools/setup test
	@tools/run-coverage

mutants:
	@tools/setup test
	@tools/run-mutants --longest 2 --sanitize --suites $(if $(SEED),--seed $(SEED)) --write

dist:
	@tools/make-dist

deb: build
	@tools/setup deb
	@tools/make-deb

static:
	@tools/setup static
	@tools/make-static

container:
	@tools/make-container

bench:
	@tools/setup bench
	@tools/run-bench

PREFIX ?= /usr/local
install: build
	@meson configure $(BUILD) --prefix $(PREFIX)
	@meson install -C $(BUILD)

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	@rm -rf $(BUILD) build-*
