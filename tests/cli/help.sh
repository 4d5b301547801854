#!/usr/bin/env bash
# Tests the help: commands in groups, lines of at most 80 columns, and examples that run.
. "$(dirname "$0")/lib.sh"
commands=$(howmany help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | grep -vxE 'help|version')
listed() { [ -z "$(sort <<<"$commands" | uniq -d)" ] && [ "$(wc -w <<<"$commands")" -ge 18 ]; }
check "every command is in the help once" listed
expect "groups of commands" 0 "look closer:" howmany help
expect "help --help is the help" 0 "usage: howmany COMMAND" howmany help --help
check "-V prints the version" bash -c '[ "$(howmany -V)" = "$(howmany --version)" ] && howmany -V | grep -qE "^howmany [0-9.]+$"'
for command in $commands; do
  narrow() { [ "$(COLUMNS=$1 howmany "$command" --help | wc -L)" -le "$1" ]; }
  wide() { [ "$(COLUMNS=300 howmany "$command" --help | sed '/^examples:/,$d' | wc -L)" -le 80 ]; }
  check "$command: help fits 80 columns on a wide terminal" wide
  check "$command: help of every option is whole" bash -c "diff <(COLUMNS=60 howmany $command --help | sed '1,2d; /^examples:/,\$d' | tr -s ' \n' '\n\n') <(COLUMNS=80 howmany $command --help | sed '1,2d; /^examples:/,\$d' | tr -s ' \n' '\n\n')"
done
# A letter must mean the same option in every command, and an option of that name must have its letter everywhere.
letters='a algorithm a algorithms b batch d data g goal h help i iterations j json l level m m n n o output p problem q quiet
  r record s size t terms w where y yes'
declare -A letter_of=()
set -- $letters
while [ $# -gt 0 ]; do letter_of[$2]=$1 && shift 2; done
one_meaning() { # COMMAND: each option of its help has the letter of its name, or none
  local letter name bad=0
  while IFS=: read -r letter name; do
    [ "$letter" = "${letter_of[$name]-}" ] || { echo "$1: --$name has the letter '$letter' instead of '${letter_of[$name]-}'" && bad=1; }
  done < <(howmany "$1" --help | sed '/^examples:/,$d' | sed -nE 's/^  (-(.), )?--([a-z0-9-]+).*/\2:\3/p')
  return $bad
}
for command in $commands; do check "$command: letters mean what they mean elsewhere" one_meaning "$command"; done
# Every option except --help must be under a heading that says what it belongs to.
grouped() { howmany "$1" --help | sed '/^examples:/,$d' | awk '/^[a-z].*:$/ {under = 1} /^  -/ && !/^  -h, --help/ && !under {print; bad = 1} END {exit bad}'; }
for command in $commands; do check "$command: options are in groups" grouped "$command"; done

# The examples must run as they are written, with their own store and outputs.
mkdir "$work/examples.d"
cp -r examples "$work/examples.d/"
cd "$work/examples.d" || exit 1
example() { # COMMAND LINE: a server is stopped after it has printed its address
  case $1 in
  "howmany serve"*)
    rm -f url
    local words=${1/ --listen 127.0.0.1:[0-9]*/}
    $words --listen 127.0.0.1:0 >url 2>err &
    local pid=$!
    wait_for 20 test -s url
    kill -TERM $pid
    wait $pid && grep -q http url
    ;;
  *) bash -c "$1" </dev/null || [ $? -eq 1 ] ;; # 1: there is no answer, such as no lab
  esac
}
for command in $commands; do
  mapfile -t lines < <(howmany "$command" --help | sed '1,/^examples:/d; s/^  //')
  case $command in
  completion | man) continue ;;
  runs) [ "$HM_SQLITE" = 1 ] || continue ;;
  converge | advise) [ "$HM_ZLIB" = 1 ] || continue ;;
  train | bench | study | compare) [ -n "${HM_SMPIMAIN:-}" ] && [ -n "${HM_REDUCE:-}" ] || continue ;;
  esac
  check "$command has three examples" test ${#lines[@]} -eq 3
  for line in "${lines[@]}"; do check "$line" example "$line"; done
done
if command -v python3 >/dev/null; then
  check "answers and help fit terminals of 80 and 60 columns" bash -c 'cd "$HM_SOURCE" && tests/width.py "$HM_PROGRAM"'
else
  skip "answers and help fit terminals of 80 and 60 columns" "no python3"
fi
finish
