#!/usr/bin/env bash
# Tests tools/run-analyze on a file with a planted mistake. The real gcc -fanalyzer looks for it; clang-tidy and cppcheck are scripts
# that print the findings in a file, so that the test needs neither and knows what they find.
. "$(dirname "$0")/lib.sh"
tree=$work/tree
mkdir -p "$tree/tools" "$tree/src" "$tree/build" "$work/bin"
cp tools/run-analyze "$tree/tools"
cat >"$tree/src/part.h" <<'END'
#include <stdlib.h>
static inline void part_free(void *p) {
    free(p);
    free(p);
}
END
cat >"$tree/src/part.c" <<'END'
#include "part.h"
const char *part_name(void) { return PART_NAME; }
int part_sum(int a, void *p) {
    part_free(p);
    return a + 1;
}
END
# The command has an option in quotes, as meson writes those with text.
command="cc -I../src '-DPART_NAME=\"a part\"' -std=gnu17 -c ../src/part.c"
jq -n --arg command "$command" --arg folder "$tree/build" \
  '[{directory: $folder, file: "../src/part.c", command: $command}]' >"$tree/build/compile_commands.json"
for tool in clang-tidy cppcheck; do
  cat >"$work/bin/$tool" <<END
#!/bin/sh
echo run >>"$work/runs"
cat "$work/findings"
[ ! -e "$work/kill" ] || kill -9 \$\$
END
done
chmod +x "$work"/bin/*
tool() { PATH=$work/bin:$PATH TOOLS=$1 "$tree/tools/run-analyze" build src/part.c; }
known() { printf '%s\n' "src/part.c $1" "$2" "A reason." >"$tree/tools/known-findings.txt"; } # CHECK CODE
: >"$tree/tools/known-findings.txt" >"$work/findings"

if gcc -fanalyzer -x c -c -o /dev/null /dev/null 2>/dev/null; then
  # Only a definition with its quotes removed compiles, and only code that compiles is analysed.
  expect "gcc: an inline function of a header is analysed" 1 "[-Wanalyzer-double-free]" tool gcc
  known analyzer-double-free 'free(p);'
  expect "gcc: a known finding in a header is accepted" 0 "no findings" tool gcc
  echo 'int part_broken(void) { return absent; }' >>"$tree/src/part.c"
  expect "gcc: a file that does not compile is an error" 1 "src/part.c: gcc failed with status 1" tool gcc
  sed -i '$d' "$tree/src/part.c"
else
  skip "gcc: planted mistake" "no gcc with -fanalyzer"
fi

for case in "tidy bugprone-example" "clang clang-analyzer-core.Example" "cppcheck exampleOfCheck"; do
  read -r name check <<<"$case"
  : >"$tree/tools/known-findings.txt"
  echo "$tree/src/part.c:5:5: warning: example [$check]" >"$work/findings"
  expect "$name: a finding is open" 1 "part.c:5:5: warning: example" tool "$name"
  known "$check" 'part_free(p);'
  expect "$name: a finding on another line of code is open" 1 "part.c:5:5: warning: example" tool "$name"
  known "$check" 'return a + 1;'
  expect "$name: a known finding is accepted" 0 "1 files: no findings" tool "$name"
  rm "$work/runs"
  expect "$name: a file without findings is not analysed again" 0 "1 files: no findings" tool "$name"
  check "$name: the second run did not start the tool" test ! -e "$work/runs"
  FRESH=1 tool "$name" >/dev/null
  check "$name: FRESH=1 starts it" test -e "$work/runs"
  : >"$work/findings"
  echo "int part_other;" >>"$tree/src/part.h"
  expect "$name: a known finding that is not found is an error" 1 "known finding $check is not found" tool "$name"
  : >"$tree/tools/known-findings.txt"
  touch "$work/kill"
  expect "$name: a tool that is killed is an error" 1 "src/part.c: $name failed with status 137" tool "$name"
  rm "$work/kill"
  expect "$name: the file is analysed after that" 0 "1 files: no findings" tool "$name"
done

# The list of known findings itself.
entries() { awk -v RS= -v FS='\n' '!/^#/' ORS='\n\n' tools/known-findings.txt; }
three_lines() { entries | awk -v RS= -v FS='\n' 'NF != 3 || $1 !~ /^[^ ]+ [^ ]+$/ || $3 !~ /^[A-Za-z].* .*\.$/ { print; bad = 1 } END { exit bad || NR < 50 }'; }
check "a known finding has a file, a check, a line and a reason" three_lines
listed_once() { [ -z "$(entries | awk -v RS= -v FS='\n' 'seen[$1 $2]++ { print $1, $2 }' | tee /dev/stderr)" ]; }
check "a known finding is listed once" listed_once
lines_exist() {
  local file line bad=0
  while read -r file _ && read -r line && read -r _ && { read -r _ || true; }; do
    sed 's/^ *//' "$file" | grep -qxF -- "$line" || { echo "$file: $line"; bad=1; }
  done < <(entries)
  return $bad
}
check "the line of a known finding is in its file" lines_exist
finish
