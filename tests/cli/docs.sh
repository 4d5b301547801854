#!/usr/bin/env bash
# Runs every command in the documents and compares its output byte for byte. In ```console blocks
# a line "$ command" is followed by its output; here-documents run to their end marker. Blocks of
# ```console long take seconds and run only in `make torture` (HM_TORTURE=1) and with --record. Blocks of
# ```yaml that begin with "# job" are jobs that plan must accept. A block is skipped if the build lacks a
# part that it needs: simulated ranks without SimGrid, several real ones without MPI, gzip
# without zlib, the store without SQLite. "$ howmany serve" leaves a
# server running for the commands after it, with a store of the document and a free port instead of 8080.
# With the argument --record, the outputs in the documents are replaced by those of the commands.
. "$(dirname "$0")/lib.sh"
trap '[ ! -s "$work/server" ] || kill $(cat "$work/server") 2>/dev/null; rm -rf "$work"' EXIT
documented=http://127.0.0.1:8080
record=${1:-}

# Print the part of the build that a block needs and that is missing; nothing if it can run.
missing() { # file with the block
  local several='(howmany(-| )train|mpirun).* (-n|--ranks)[ =]?([2-9]|1[0-9])'
  if [ -z "${HM_SMPIMAIN:-}" ] && grep -q '^\$ .*--simulate' "$1"; then
    echo "built without SimGrid, or with sanitizers"
  elif [ "${HM_SQLITE:-1}" = 0 ] && grep -qE '^\$ .*(howmany runs|\.db|/v1/r)' "$1"; then
    echo "built without SQLite"
  elif [ "${HM_ZLIB:-1}" = 0 ] && grep -q '^\$ .*\.gz' "$1"; then
    echo "built without zlib"
  elif [ -z "${HM_REDUCE:-}" ] && grep '^\$ ' "$1" | grep -v -e --simulate | grep -qE -e "$several"; then
    echo "built without MPI"
  fi
}

# Open MPI does not free all its memory, so leaks are not reported for it.
run_command() {
  local command=$1
  case $command in
  *howmany?train*) export ASAN_OPTIONS=detect_leaks=0 ;;
  'howmany serve')
    rm -f "$work/url" # of an earlier server
    howmany serve --listen 127.0.0.1:0 --quiet --record "$work/serve.$(echo "$file" | tr / .).db" >"$work/url" 2>&1 &
    echo $! >>"$work/server"
    wait_for 30 test -s "$work/url"
    command="echo $documented"
    ;;
  *"$documented"*) command=${command//"$documented"/$(cat "$work/url")} ;;
  esac
  eval "$command"
}

run_block() { # file line: reads the block from standard input
  local file=$1 at=$2 command= wanted= word= line
  flush() {
    [ -n "$command" ] || return 0
    local got
    got=$(run_command "$command" 2>"$work/err")
    [ -z "$record" ] || { printf '$ %s\n' "$command" && printf '%s' "${got:+$got$'\n'}"; } >>"$work/recorded"
    if [ "$got" = "${wanted%$'\n'}" ]; then
      say 0 "$file:$at ${command%%$'\n'*}"
    else
      diff <(printf '%s\n' "${wanted%$'\n'}") <(printf '%s\n' "$got") | sed 's/^/# /'
      sed 's/^/# /' "$work/err"
      say 1 "$file:$at ${command%%$'\n'*}"
    fi
    command= wanted=
  }
  while IFS= read -r line; do
    if [ -n "$word" ]; then
      command+=$'\n'$line
      [ "$line" = "$word" ] && word=
    elif [[ $line == '$ '* ]]; then
      flush
      command=${line#'$ '}
      [[ $command =~ \<\<\'?([A-Z]+)\'? ]] && word=${BASH_REMATCH[1]}
    else
      wanted+=$line$'\n'
    fi
  done
  flush
}

for file in README.md CONTRIBUTING.md ARCHITECTURE.md docs/*.md docs/*/*.md; do
  [ -f "$file" ] || continue
  inside= start=0 number_of_line=0
  : >"$work/block"
  : >"$work/recorded"
  while IFS= read -r text; do
    number_of_line=$((number_of_line + 1))
    if [ -z "$inside" ]; then
      case $text in
      '```console') inside=console ;;
      '```console long') [ -n "$record" ] || in_torture && inside=console || inside=other ;;
      '```yaml') inside=yaml ;;
      '```'*) inside=other ;;
      esac
      start=$number_of_line
      : >"$work/block"
      printf '%s\n' "$text" >>"$work/recorded"
    elif [ "$text" = '```' ]; then
      lacking=$(missing "$work/block")
      if [ "$inside" = console ] && [ -n "$lacking" ]; then
        skip "$file:$start $(grep -m 1 '^\$ ' "$work/block")" "$lacking"
      elif [ "$inside" = console ]; then
        run_block "$file" "$start" <"$work/block"
        : >"$work/block"
      elif [ "$inside" = yaml ] && [ "$(head -n 1 "$work/block")" = '# job' ]; then
        cp "$work/block" "$work/block.yaml"
        run howmany plan "$work/block.yaml"
        [ "$code" -le 1 ] || sed 's/^/# /' "$work/err"
        say $((code > 1)) "$file:$start a job"
      fi
      inside=
      { cat "$work/block" && echo '```'; } >>"$work/recorded"
    else
      printf '%s\n' "$text" >>"$work/block"
    fi
  done <"$file"
  [ -z "$record" ] || cmp -s "$work/recorded" "$file" || cp "$work/recorded" "$file"
done
[ -z "$record" ] || exit 0

# ---- Python in the documents ----------------------------------------------------------------------

documents() { PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=python HOWMANY_LIBRARY=$HM_BUILD/libhowmany.so python3 python/tests/documents.py --without pandas "$1"; }
for file in python/README.md docs/reference/python.md examples/plan.ipynb; do
  if [ -e "$HM_BUILD/libhowmany.so" ] && python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    check "$file shows what its Python prints" documents "$file"
  else
    skip "$file shows what its Python prints" "no python3, or no shared library"
  fi
done

# ---- the documents as a whole ---------------------------------------------------------------------

links() { # every link to a file of the repository leads to a file
  local file target bad=0
  for file in *.md docs/*.md docs/*/*.md python/*.md; do
    while IFS= read -r target; do
      [ -e "$(dirname "$file")/${target%%#*}" ] || { echo "$file: $target does not exist" && bad=1; }
    done < <(grep -oE '\]\([^)# ]+' "$file" | sed 's/^](//' | grep -vE '^(https?|mailto):')
  done
  return $bad
}
check "links lead to files" links
reachable() { # every guide is named in docs/README.md
  local file bad=0
  for file in docs/*.md docs/*/*.md; do
    file=${file#docs/}
    [ "$file" = README.md ] || grep -qF "($file)" docs/README.md || { echo "$file is not in docs/README.md" && bad=1; }
  done
  return $bad
}
check "every guide is in the list of guides" reachable
short() { # the README has at most 8 rows of features, 10 links and two pictures
  [ "$(sed -n '/^## What it can do/,/^## How/p' README.md | grep -c '^| [a-z].*`')" -le 8 ] && [ "$(grep -oE '(^|[^!])\[[^]]+\]\(' README.md | wc -l)" -le 10 ] && [ "$(grep -c '^!\[' README.md)" -eq 2 ]
}
check "the README is short" short
check "the picture of the terminal shows what the program prints" bash -c 'tools/draw-terminal | cmp - docs/images/terminal.svg'
same_table() { # the README has the figures of docs/explain/accuracy.md
  local figures=$(sed -nE 's/^\| auto \| 75 \| ([0-9.]+ %) \| ([0-9]+ %) \| [0-9]+ \(([0-9]+ %)\) \|$/\1 | \2 | \3/p' docs/explain/accuracy.md)
  [ -n "$figures" ] && grep -qF "| \`howmany fit\` | $figures |" README.md
}
check "the README and docs/explain/accuracy.md have the same figures" same_table
finish
