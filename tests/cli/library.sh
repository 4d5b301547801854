#!/usr/bin/env bash
# The public headers alone in C and C++, the version in one place, and the programs of examples/c: they are
# built with the public headers, run, and compared with docs/library.md.
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

# The block of C code in docs/library.md that begins with the first line of a file.
shown() { awk -v first="$(head -n 1 "$1")" '/^```c$/ {code = 1; text = ""; next} /^```$/ {if (code && index(text, first) == 1) printf "%s", text; code = 0} code {text = text $0 "\n"}' docs/library.md; }
# The text block that follows it.
printed() { awk -v first="$(head -n 1 "$1")" '$0 == first {found = 1} found && /^```text$/ {text = 1; next} text && /^```$/ {exit} text' docs/library.md; }
for example in examples/c/*.c; do
  name=$(basename "$example" .c)
  short() { [ "$(wc -l <"$example")" -lt 40 ]; }
  check "$name has fewer than 40 lines" short
  check "$name is built with the public headers" $HM_CC $flags -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude "$example" -o "$work/$name" -L"$HM_BUILD" -lhowmany -lm
  check "docs/library.md shows $name" diff <(shown "$example") "$example"
  input=/dev/null
  [ -f "examples/c/$name.http" ] && input=examples/c/$name.http
  check "$name prints what docs/library.md shows" diff <(printed "$example") <("$work/$name" <"$input" | tr -d '\r')
done
verbs() { "$HM_BUILD/python-verbs" | diff python/howmany/_verbs.py - || { echo "python/howmany/_verbs.py is older than the tables in src/request: make types"; return 1; }; }
check "the functions of the Python package are what the tables of requests and answers give" verbs
finish
