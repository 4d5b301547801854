#!/usr/bin/env bash
# Tests the public headers alone in C and C++, the version in one place, and the programs of examples/c: they are
# built with the public headers, run, and compared with docs/reference/library.md.
. "$(dirname "$0")/lib.sh"
export LD_LIBRARY_PATH=$HM_BUILD
flags=
[ "${HM_SANITIZE:-none}" = none ] || flags=-fsanitize=$HM_SANITIZE

for header in include/*.h; do
  name=$(basename "$header")
  check "$name alone in C11" $HM_CC -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -x c "$header"
  if command -v g++ >/dev/null; then
    check "$name alone in C++17" g++ -std=c++17 -Wall -Werror -Iinclude -fsyntax-only -x c++ "$header"
  else
    skip "$name alone in C++17" "g++ is not installed"
  fi
done
cat >"$work/init.cpp" <<'CPP'
#include <howmany_store.h>
hm_question question = HM_QUESTION_INIT;
hm_advise_question advise = HM_ADVISE_QUESTION_INIT;
hm_stored stored = HM_STORED_INIT;
CPP
if command -v g++ >/dev/null; then
  check "INIT macros in C++17" g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$work/init.cpp"
else
  skip "INIT macros in C++17" "g++ is not installed"
fi

parts=$(sed -n 's/^#define HM_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' include/howmany_base.h | tr '\n' '.')
parts=${parts%.}
built() { [ "$(meson introspect "$HM_BUILD" --projectinfo | jq -r .version)" = "$parts" ]; }
check "the version of the build is that of the header" built
one_place() { ! git grep -nF "\"$parts\"" -- include src apps meson.build; }
check "the version is written in one place" one_place
expect "the program has that version" 0 "$parts" howmany --version

# Prints the block of C code in docs/reference/library.md that begins with the first line of a file.
shown() { awk -v first="$(head -n 1 "$1")" '/^```c$/ {code = 1; text = ""; next} /^```$/ {if (code && index(text, first) == 1) printf "%s", text; code = 0} code {text = text $0 "\n"}' docs/reference/library.md; }
# Prints the text block that follows this block of C code.
printed() { awk -v first="$(head -n 1 "$1")" '$0 == first {found = 1} found && /^```text$/ {text = 1; next} text && /^```$/ {exit} text' docs/reference/library.md; }
for example in $(ls examples/c/*.c | grep -v /ps_); do
  name=$(basename "$example" .c)
  short() { [ "$(wc -l <"$example")" -lt 40 ]; }
  check "$name has fewer than 40 lines" short
  check "$name is built with the public headers" $HM_CC $flags -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude "$example" -o "$work/$name" -L"$HM_BUILD" -lhowmany -lm
  check "docs/reference/library.md shows $name" diff <(shown "$example") "$example"
  input=/dev/null
  [ -f "examples/c/$name.http" ] && input=examples/c/$name.http
  check "$name prints what docs/reference/library.md shows" diff <(printed "$example") <("$work/$name" <"$input" | tr -d '\r')
done
# Programs of parameter servers run on several ranks.
ps_example() { # NAME RANKS LINES
  local example=examples/c/$1.c name=$1 lines=$3
  short() { [ "$(wc -l <"$example")" -le "$lines" ]; }
  check "$name has at most $lines lines" short
  check "docs/reference/library.md shows $name" diff <(shown "$example") "$example"
  if [ -z "${HM_REDUCE:-}" ]; then
    skip "$name prints what docs/reference/library.md shows" "built without MPI"
    return
  fi
  check "$name is built with the public headers" mpicc $flags -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude "$example" -o "$work/$name" -L"$HM_BUILD" -lhowmany-ps -lm
  check "$name prints what docs/reference/library.md shows" diff <(printed "$example") <(timeout 60 mpirun --oversubscribe -n "$2" "$work/$name")
}
export ASAN_OPTIONS=detect_leaks=0 # Open MPI leaves memory behind
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # Tests in containers run as root.
ps_example ps_logistic 4 60
ps_example ps_factorise 6 60
if [ -n "${HM_REDUCE:-}" ]; then
  # Builds an example whose line with hm_ps_main is replaced by other lines.
  ps_changed() { # NAME TITLE LINES
    awk -v lines="$3" '/return hm_ps_main/ {print lines; next} {print}' examples/c/ps_logistic.c >"$work/$1.c"
    check "$2 is built" mpicc $flags -std=c11 -Wno-unused-function -Wno-unused-variable -Iinclude -include mpi.h "$work/$1.c" -o "$work/$1" -L"$HM_BUILD" -lhowmany-ps -lm
  }
  many="timeout 60 mpirun --oversubscribe -n"
  expect "parameter servers on one rank are refused" 1 "servers: servers is 1 in a job of 1 rank" "$work/ps_logistic"
  ps_changed null "a program with NULL arguments" 'return hm_ps_main(NULL, NULL, NULL);'
  expect "NULL arguments are refused on all ranks" 1 "settings: settings is NULL" $many 3 "$work/null"
  once() { [ "$(grep -c "settings is NULL" "$work/err")" = 1 ]; }
  check "and only one rank prints the error" once
  sed 's/    return rc;$/    return 7;/' examples/c/ps_logistic.c >"$work/own.c"
  check "a program with an error of its own is built" mpicc $flags -std=c11 -Iinclude "$work/own.c" -o "$work/own" -L"$HM_BUILD" -lhowmany-ps -lm
  expect "an error of the program itself ends it with status 1" 1 "a worker returned 7" $many 3 "$work/own"
  report='struct hm_err err = {0};
    int rc = hm_ps_run(&settings, worker, NULL, &err);
    if (rc)
        fprintf(stderr, "%s (%s)\\n", err.message, err.hint);'
  ps_changed no_mpi "a program without MPI_Init" "$report return rc != 0;"
  expect "parameter servers before MPI_Init are refused" 1 "MPI is not running (call MPI_Init before" "$work/no_mpi"
  # Runs twice in one program: the second run must find nothing of the first.
  ps_changed twice "a program that runs twice" "MPI_Init(NULL, NULL); $report rc = rc || hm_ps_run(&settings, worker, NULL, &err); MPI_Finalize(); return rc != 0;"
  check "a second run starts from 0 and gives the same bits" diff <(printf '3 workers, mean loss 0.1858\n%.0s' 1 2) <($many 4 "$work/twice")
fi
verbs() { "$HM_BUILD/python-verbs" | diff python/howmany/_verbs.py - || { echo "python/howmany/_verbs.py is older than the tables in src/request: make types"; return 1; }; }
check "the functions of the Python package are what the tables of requests and answers give" verbs
finish
