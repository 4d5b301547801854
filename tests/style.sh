#!/usr/bin/env bash
# The rules of style that a program can check. Outside a git repository (in an unpacked source archive) all
# files of the folder count as tracked.
. "$(dirname "$0")/cli/lib.sh"
files=$(git ls-files '*.c' '*.h' 2>/dev/null)
[ -n "$files" ] || files=$(find include src apps tests tools bench examples -name '*.[ch]')

check "clang-format" clang-format --dry-run -Werror $files

long_files() { wc -l $files | awk '$2 != "total" && $1 > 800 {print; bad = 1} END {exit bad}'; }
check "no file over 800 lines" long_files

long_functions() {
  awk 'FNR == 1 {start = 0} /^\{/ {start = FNR}
    /^\}/ {if (start && FNR - start > 80) {print FILENAME ":" start ": " FNR - start " lines"; bad = 1}; start = 0}
    END {exit bad}' $files
}
check "no function over 80 lines" long_functions

banned() { ! grep -nE '\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|alloca)\(' $files; }
check "no banned function" banned

numbers() { ! grep -nE '\b(atoi|atol|atof|strtod)\(' $(echo "$files" | grep -E '^(src|apps)/' | grep -vE "^src/(present/format|base/json).c"); }
check "numbers are read by hm__number_read" numbers

quiet() { ! grep -nE '\b(printf|puts|putchar|exit|abort|getenv|perror|setlocale)\(|stderr|stdout' $(echo "$files" | grep '^src/') ; }
check "the library does not print, exit or read the environment" quiet

opening() { awk 'FNR == 1 && !/^\/\*/ {print FILENAME " does not open with a comment"; bad = 1} END {exit bad}' $files; }
check "every file opens with a comment" opening

rule() { check "$1" python3 tests/style_code.py "$2"; } # NAME CHECK
rule "modules use what the table in ARCHITECTURE.md allows" layers
rule "tracked files have an allowed kind and size" files
rule "internal functions start with hm__" internal
rule "the version is written once" version
rule "no two structs have one name" structs
rule "no cycle of includes within a folder" cycles
rule "static functions carry a noun" statics
rule "JSON keys are written by src/base/json.c alone" keys
rule "comments use plain words" words
rule "messages of the library name no command-line flag" flags
rule "requests open files only in src/request/files.c" opens
rule "every function has a caller outside the tests" callers

# What the build enforces: a file of base cannot include a header of the model.
enforced() {
  local flags compiler
  flags=$(jq -r '[.[] | select(.output | startswith("src/base/libhm-base"))][0].command' "$HM_BUILD/compile_commands.json" | grep -oE ' -I[^ ]+' | tr '\n' ' ')
  [ -n "$flags" ] || return 1
  read -ra compiler <<<"$HM_CC" # it may be "ccache cc"
  (cd "$HM_BUILD" && echo '#include "err.h"' | "${compiler[@]}" $flags -fsyntax-only -x c -) || return 1
  ! (cd "$HM_BUILD" && echo '#include "model.h"' | "${compiler[@]}" $flags -fsyntax-only -x c - 2>/dev/null)
}
check "the build enforces the layers" enforced

# docs/testing.md says which test runs in which build.
# A build with one suite lists only the tests of that suite; tools/run-tests then compares the tests of all its builds.
builds_of_tests() { [ -n "${HM_SUITE:-}" ] || tools/list-tests --check "$HM_BUILD"; }
check "docs/testing.md has the table of tests and builds" builds_of_tests
# Commands that tests start may sleep: scripts that a test writes begin with a test of "$1", others follow bash -c.
sleepless() { ! grep -nE '(^|[;&|] *|do )sleep [0-9]' tests/cli/*.sh | grep -v 'lib\.sh:' | grep -vF -e '[ "$1" =' -e 'bash -c'; }
check "no test sleeps for a fixed time" sleepless

library=$(find "$HM_BUILD" -maxdepth 1 -name 'libhowmany.so.*.*' | head -n 1)
exported() {
  nm -D --defined-only "$library" | awk '$2 ~ /[TDBR]/ {print $3}' | grep -v '^__\|^_init\|^_fini\|asan\|ubsan\|sancov' | sort >"$work/exported"
  grep -ohE 'hm_[a-z_0-9]+\(' include/*.h | tr -d '(' | sort -u >"$work/declared"
  comm -23 "$work/exported" "$work/declared" | grep . && return 1
  grep -q hm_plan "$work/exported"
}
check "the library exports only what the headers declare" exported
documented() {
  nm -D --defined-only "$library" | awk '{print $3}' | sort >"$work/exported"
  sed -n 's/^HM_API .*[ *]\(hm_[a-z_0-9]*\)(.*/\1/p' $(ls include/*.h | grep -v howmany_ps) | sort -u >"$work/declared"
  comm -13 "$work/exported" "$work/declared" | grep . && return 1
  [ -s "$work/declared" ]
}
check "the library exports everything that the headers declare" documented
servers=$(find "$HM_BUILD" -maxdepth 1 -name 'libhowmany-ps.so.*.*' | head -n 1)
exported_ps() {
  diff <(nm -D --defined-only "$servers" | awk '$2 ~ /[TDBR]/ {print $3}' | grep -v '^__\|^_init\|^_fini\|asan\|ubsan\|sancov' | sort) \
    <(sed -n 's/^HM_API .*[ *]\(hm_[a-z_0-9]*\)(.*/\1/p' include/howmany_ps.h | sort)
}
if [ -n "$servers" ]; then
  check "the library of parameter servers exports what its header declares" exported_ps
else
  skip "the library of parameter servers exports what its header declares" "built without MPI"
fi

listed() { git ls-files 2>/dev/null | grep . || find . -type f -not -path '*/node_modules/*' -not -path './build*' | sed 's/^\.\///'; }
private() { ! listed | grep -v '^tests/style.sh$' | tr '\n' '\0' | xargs -0 grep -nIE '/work/|/root/'; }
check "no file names a path of one machine" private
markers() { ! listed | grep -E '\.(c|h|md)$' | xargs grep -nwE 'TODO|FIXME|XXX'; }
check "no TODO is left" markers
finish
