#!/usr/bin/env bash
# Tests the page of howmany serve: its size, the responses of the server, whether web/dist is up to date, its unit tests, and
# the page in a browser. Checks that need Node, npm packages or Chromium are skipped if these are missing.
own_home=$HOME
. "$(dirname "$0")/lib.sh"
server= bare=
trap '[ -z "$server" ] || kill $server $bare 2>/dev/null; rm -rf "$work"' EXIT

# ---- size and origin ------------------------------------------------------------------------------

small() {
  local total=0 file
  for file in web/dist/index.html web/dist/assets/*; do
    total=$((total + $(gzip -9 -c "$file" | wc -c)))
  done
  echo "$total bytes"
  [ "$total" -lt 90000 ]
}
check "the whole page is under 90 kB, gzipped" small
alone() { ! grep -noE "(src|href|url)[=(] ?[\"']?(https?:)?//[^ ]*" -r web/dist | grep -v 'www.w3.org'; }
check "nothing is loaded from other hosts" alone
inline() { ! grep -nE '<style|style=|<script[^>]*>[^<]| on[a-z]+=' web/dist/index.html; }
check "the page has no inline script and no inline style" inline
hosts() { ! grep -nE '"resolved"|registry' web/package-lock.json web/package.json; }
check "the lock file names no registry" hosts
long_sources() { ls web/src/*.ts* web/test/*.mjs | grep -v '\.gen\.ts$' | xargs wc -l | awk '$2 != "total" && $1 > 400 {print; bad = 1} END {exit bad}'; }
check "no file of the page is over 400 lines" long_sources

# ---- what is derived from other files -------------------------------------------------------------

types() { "$HM_BUILD/types" | diff web/src/types.gen.ts - || { echo "web/src/types.gen.ts is older than the tables in src/request: make types"; return 1; }; }
check "web/src/types.gen.ts is what the tables of requests and answers give" types
version() { grep -F "\"version\": \"$(howmany --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+')\"" web/package.json; }
check "web/package.json has the version of the program" version

# ---- what the server sends ------------------------------------------------------------------------

serve() { # FILE OPTIONS…: a server that writes its address there
  howmany serve --listen 127.0.0.1:0 --quiet "${@:2}" >"$1" 2>"$work/serve.err" &
  local process=$! file=$1
  begun() { [ -s "$file" ] || ! kill -0 "$process" 2>/dev/null; }
  wait_for 30 begun
}
serve "$work/address"
server=$!
address=$(cat "$work/address")
if [ -z "$address" ]; then
  server=
  skip "the page is served" "$(head -n 1 "$work/serve.err")"
  finish
fi

head_of() { : >"$work/body" && curl -sS -m 10 -o "$work/body" -D "$work/head" "$@"; }
has() { grep -qiF "$1" "$work/head" || { cat "$work/head"; return 1; }; }
served() { # path type file
  head_of "$address$1" && has '200 OK' && has "Content-Type: $2" && has "Content-Security-Policy: default-src 'self';" &&
    has 'X-Content-Type-Options: nosniff' && has 'Cache-Control: no-cache' && cmp "$work/body" "web/dist/$3"
}
check "the page" served / 'text/html; charset=utf-8' index.html
check "its script" served /assets/page.js 'text/javascript; charset=utf-8' assets/page.js
check "its style" served /assets/page.css 'text/css; charset=utf-8' assets/page.css
check "its icon" served /assets/icon.svg 'image/svg+xml' assets/icon.svg
strict() { head_of "$address/" && ! grep -i '^Content-Security-Policy' "$work/head" | grep -E 'unsafe|\*|https?:|data:'; }
check "the content security policy allows no exceptions" strict
known() {
  head_of "$address/assets/page.js"
  local tag
  tag=$(sed -n 's/^ETag: \(.*\)\r$/\1/p' "$work/head")
  head_of -H "If-None-Match: W/\"x\", $tag" "$address/assets/page.js" && has '304 Not Modified' && has "$tag" && [ ! -s "$work/body" ] &&
    head_of -H 'If-None-Match: "0123456789abcdef"' "$address/assets/page.js" && has '200 OK'
}
check "a browser with a cached copy gets 304" known
heads() { head_of -I "$address/" && has '200 OK' && has "Content-Length: $(wc -c <web/dist/index.html)"; }
check "HEAD" heads
missing() {
  for path in /nothing /assets/ /assets/nothing.js /assets/index.html /index.html /assets/page.js/x /assets/%2e%2e/page.js; do
    head_of "$address$path" && has '404 Not Found' && has 'application/problem+json' || { echo "$path"; return 1; }
  done
}
check "an unknown path gets 404 as problem+json" missing
posted() { head_of -X POST -H 'Content-Type: text/plain' -d x "$address/" && has '405 Method Not Allowed' && has 'Allow: GET, HEAD'; }
check "POST is refused" posted

# ---- Node -----------------------------------------------------------------------------------------

packages() { # install them where they are missing or old
  [ web/node_modules/.package-lock.json -nt web/package-lock.json ] && return 0
  (flock 9 && cd web && HOME=$own_home timeout 240 npm ci --ignore-scripts --no-audit --no-fund) 9>"$HM_BUILD/page.lock" >"$work/npm.log" 2>&1
}
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  skip "the page's own tests" "no node or npm"
  finish
elif ! packages; then
  skip "the page's own tests" "npm ci does not work: $(tail -n 1 "$work/npm.log")"
  finish
fi

(cd web && timeout 60 npm test --silent) >"$work/unit.log" 2>&1
grep -E '^(not )?ok ' "$work/unit.log" >"$work/unit.lines" || echo "not ok - the tests run" >"$work/unit.lines"
grep -q '^not ok' "$work/unit.lines" && sed 's/^/# /' "$work/unit.log"
while IFS= read -r line; do
  case $line in ok*) say 0 "${line#*- }" ;; *) say 1 "${line#*- }" ;; esac
done <"$work/unit.lines"

fresh() {
  (cd web && timeout 100 ./node_modules/.bin/tsc --noEmit && OUT=$work/dist timeout 100 ./node_modules/.bin/vite build --logLevel warn) || return 1
  diff -rq "$work/dist" web/dist || { echo "web/dist is older than its sources: make page"; return 1; }
}
check "web/dist is what the sources give" fresh

# ---- a browser ------------------------------------------------------------------------------------

export CHROMIUM=${CHROMIUM:-/usr/bin/chromium}
if [ ! -x "$CHROMIUM" ]; then
  skip "the page in a browser" "no $CHROMIUM"
  finish
fi
if [ "${HM_SANITIZE:-none}" != none ]; then # sanitizers make the browser test slow, and tests/cli/serve*.sh send the same requests
  skip "the page in a browser" "built with sanitizers"
  finish
fi
if [ "${HM_SQLITE:-1}" = 0 ]; then
  skip "the page in a browser" "the views of the store need SQLite"
  finish
fi
serve "$work/bare" --record none
bare=$!
for size in tablet phone; do # Each size of the screen has a server with an empty store.
  serve "$work/$size" --record "$work/$size.db"
  bare="$bare $!"
done
timeout "$(in_torture && echo 2800 || echo 280)" node web/test/browser.mjs "$address,$(cat "$work/tablet"),$(cat "$work/phone")" "$(cat "$work/bare")" "$HM_BUILD/page" >"$work/browser.log" 2>&1
code=$?
while IFS= read -r line; do
  case $line in
  'ok - '*) say 0 "${line#ok - }" ;;
  'not ok - '*) say 1 "${line#not ok - }" ;;
  '#'*) echo "$line" ;;
  *) echo "# $line" ;;
  esac
done <"$work/browser.log"
grep -q '^not ok' "$work/browser.log" || check "the browser ends well" [ $code -eq 0 ]
finish
