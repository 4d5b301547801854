#!/usr/bin/env bash
# Every file of tests/invalid must be refused with exit code 2 and exactly the message in the .err file of the same name.
# `tests/cli/invalid.sh --record` writes all messages again; read them before you commit them.
record=${1:-}
HM_SOURCE=${HM_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
HM_PROGRAM=${HM_PROGRAM:-$HM_SOURCE/build/howmany}
. "$(dirname "$0")/lib.sh"
cd tests/invalid || exit 1
for file in *.yaml *.json; do
  name=${file%.*}
  run timeout 10 howmany plan "$file"
  if [ "$record" = --record ]; then
    printf '%s\n' "$err" >"$name.err"
  fi
  if [ "$code" -eq 2 ] && [ -z "$out" ] && [ "$err" = "$(cat "$name.err")" ] &&
    [ "$(grep -c '^howmany: ' "$work/err")" -eq 1 ] && grep -q "^howmany: $file" "$work/err"; then
    say 0 "$file"
  else
    echo "# exit $code"
    diff <(printf '%s\n' "$err") "$name.err" | sed 's/^/# /'
    say 1 "$file"
  fi
done
finish
