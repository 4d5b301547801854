# The common commands by name; Meson and Ninja do the work. `make help` lists them.
BUILD ?= build
export PATH := $(CURDIR)/$(BUILD):$(PATH)

.PHONY: help demo build test page fuzz tsan torture bench install clean format

help:
	@echo "make demo     install what is missing, build, and answer a first question"
	@echo "make test     install what is missing, build in several ways, run every test"
	@echo "make build    leaves $(BUILD)/howmany"
	@echo "make page     build the page of howmany serve anew: web/dist from web/src (Node)"
	@echo "make fuzz     a minute of fuzzing for each reader (clang)"
	@echo "make tsan     the server and what runs in threads under ThreadSanitizer"
	@echo "make torture  abuse the server, kill ranks of training runs, and look what becomes of them"
	@echo "make bench    measure, against peers and limits"
	@echo "make install  PREFIX=/usr/local"
	@echo "make format   lay out the C files"
	@echo "make clean    remove what was built"

build:
	@tools/setup build
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) -Dtests=false >/dev/null
	@ninja -C $(BUILD) --quiet

demo: build
	@echo
	@echo "\$$ howmany plan examples/fig2-spark-ann.yaml --table"
	@$(BUILD)/howmany plan examples/fig2-spark-ann.yaml --table
	@echo
	@echo "\$$ howmany plan examples/resnet50.yaml --on p4d.24xlarge,p5.48xlarge,g5.12xlarge --deadline 1h"
	@$(BUILD)/howmany plan examples/resnet50.yaml --on p4d.24xlarge,p5.48xlarge,g5.12xlarge --deadline 1h --no-chart
	@echo
	@echo "\$$ howmany fit examples/runs.csv --target 64"
	@$(BUILD)/howmany fit examples/runs.csv --target 64
	@echo
	@echo "\$$ howmany train --algorithm cocoa+ -n 16 --simulate examples/cluster-study.yaml --gap 1e-3 --text"
	@$(BUILD)/howmany train --algorithm cocoa+ -n 16 --simulate examples/cluster-study.yaml --gap 1e-3 --text
	@echo
	@echo "\$$ howmany advise examples/mnist-traces.csv.gz --loss 1e-4"
	@$(BUILD)/howmany advise examples/mnist-traces.csv.gz --loss 1e-4

test:
	@tools/setup test
	@tools/run-tests

page:
	@tools/setup page
	@cd web && npm ci --silent --ignore-scripts && npm run --silent build -- --logLevel warn

fuzz:
	@tools/setup test
	@tools/run-fuzz

tsan:
	@tools/setup test
	@test -f build-tsan/build.ninja || CC=clang meson setup build-tsan -Db_sanitize=thread -Db_lundef=false >/dev/null
	@ninja -C build-tsan --quiet
	@meson test -C build-tsan --no-rebuild --print-errorlogs serve serve_store serve_store_postgres 'fuzz corpus request'

torture: build
	@tools/run-torture

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
