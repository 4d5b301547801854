#!/usr/bin/env bash
# The house rules that a program can check.
. "$(dirname "$0")/cli/lib.sh"
files=$(git ls-files '*.c' '*.h' 2>/dev/null)
[ -n "$files" ] || files=$(find include src apps tests tools bench -name '*.[ch]')

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

numbers() { ! grep -nE '\b(atoi|atol|atof|strtod)\(' $(echo "$files" | grep -E '^(src|apps)/' | grep -v src/present/format.c); }
check "numbers are read by hm__number_read" numbers

quiet() { ! grep -nE '\b(printf|puts|putchar|exit|abort|getenv|perror|setlocale)\(|stderr|stdout' $(echo "$files" | grep '^src/') ; }
check "the library does not print, exit or read the environment" quiet

opening() {
  for file in $files; do
    head -n 1 "$file" | grep -q '^/\*' || { echo "$file does not open with what it is"; return 1; }
  done
}
check "every file opens with what it is" opening

# The layers, as in ARCHITECTURE.md: a module sees its own headers and those of the modules it names.
layers() {
  local bad=0 file module header owner
  declare -A below=([base]="" [formula]="base" [types]="formula base" [inputs]="types formula base" [store]="inputs types formula base"
    [model]="types formula base" [fit]="model types formula base" [converge]="fit model types formula base" [answer]="converge fit model types formula base" [present]="types formula base" [train]="types formula base")
  for file in src/*/*.[ch]; do
    module=$(basename "$(dirname "$file")")
    for header in $(sed -n 's/^#include "\(.*\)"/\1/p' "$file"); do
      case $header in howmany.h | howmany_*.h) continue ;; esac
      owner=$(basename "$(dirname "$(ls src/*/"$header" 2>/dev/null | head -n 1)")")
      case " $module ${below[$module]} " in
      *" $owner "*) ;;
      *) echo "$file includes $header of $owner"; bad=1 ;;
      esac
      case $header in *..*) echo "$file: $header"; bad=1 ;; esac
    done
  done
  return $bad
}
check "layers hold" layers

# What the build enforces: a file of base cannot see the model's headers.
enforced() {
  local flags
  flags=$(jq -r '[.[] | select(.file | endswith("src/base/err.c"))][0].command' "$HM_BUILD/compile_commands.json" | grep -oE ' -I[^ ]+' | tr '\n' ' ')
  [ -n "$flags" ] || return 1
  ! (cd "$HM_BUILD" && echo '#include "model.h"' | ${HM_CC%% *} $flags -fsyntax-only -x c - 2>/dev/null)
}
check "the build enforces the layers" enforced

library=$(find "$HM_BUILD" -maxdepth 1 -name 'libhowmany.so.*.*' | head -n 1)
exported() {
  nm -D --defined-only "$library" | awk '$2 ~ /[TDBR]/ {print $3}' | grep -v '^__\|^_init\|^_fini\|asan\|ubsan\|sancov' | sort >"$work/exported"
  grep -ohE 'hm_[a-z_0-9]+\(' include/*.h | tr -d '(' | sort -u >"$work/declared"
  comm -23 "$work/exported" "$work/declared" | grep . && return 1
  grep -q hm_plan "$work/exported"
}
check "only what the header declares is exported" exported
documented() {
  nm -D --defined-only "$library" | awk '{print $3}' | sort >"$work/exported"
  sed -n 's/^HM_API .*[ *]\(hm_[a-z_0-9]*\)(.*/\1/p' include/*.h | sort -u >"$work/declared"
  comm -13 "$work/exported" "$work/declared" | grep . && return 1
  [ -s "$work/declared" ]
}
check "everything the header declares is exported" documented

private() { ! git grep -nE '/work/|/root/' -- . ':!tests/style.sh'; }
check "no path of one machine" private
markers() { ! git grep -nwE 'TODO|FIXME|XXX' -- '*.c' '*.h' '*.md'; }
check "nothing is left open" markers
finish
