# Functions that start a server on a free loopback port and send requests to it. Source this file after lib.sh.
pid=

stop() { # end the running server; sets code to its exit code
  [ -n "$pid" ] || return 0
  kill -TERM "$pid" 2>/dev/null
  wait "$pid"
  code=$?
  pid=
}
trap 'stop; rm -rf "$work"' EXIT

started() { [ -s "$work/url" ] || ! kill -0 "$pid" 2>/dev/null; }
start() { # OPTIONS…: start a server; sets pid, url and port
  stop
  : >"$work/url"
  howmany serve --listen 127.0.0.1:0 "$@" >"$work/url" 2>"$work/log" &
  pid=$!
  wait_for 30 started
  url=$(cat "$work/url") port=${url##*:}
}

get() { curl -s -m 20 "$@"; }
post() { # PATH TYPE FILE|- [curl options]: print the body of the response
  local path=$1 type=$2 file=$3
  shift 3
  get --data-binary @"$file" -H "Content-Type: $type" "$@" "$url$path"
}
same() { # NAME PATH TYPE FILE COMMAND…: the response's body equals what the command prints
  local name=$1 path=$2 type=$3 file=$4
  shift 4
  "$@" >"$work/expected" 2>"$work/err"
  post "$path" "$type" "$file" >"$work/answer"
  check "$name" cmp "$work/expected" "$work/answer"
}
problem() { # NAME STATUS FILTER curl options…: the response is problem+json that makes the jq filter true
  local name=$1 status=$2 filter=$3
  shift 3
  get -o "$work/body" -w '%{http_code} %{content_type}' "$@" >"$work/head"
  if [ "$(cat "$work/head")" = "$status application/problem+json" ] &&
    jq -e ".status == $status and (.type | startswith(\"urn:howmany:problem:\")) and has(\"title\") and ($filter)" "$work/body" >/dev/null; then
    say 0 "$name"
  else
    echo "# $(cat "$work/head"), wanted $status and $filter: $(head -c 300 "$work/body")"
    say 1 "$name"
  fi
}
wrong() { # NAME STATUS FILTER PATH BODY: the same for a POST of a JSON body
  printf '%s' "$5" >"$work/wrong.json"
  problem "$1" "$2" "$3" --data-binary @"$work/wrong.json" -H 'Content-Type: application/json' "$url$4"
}
