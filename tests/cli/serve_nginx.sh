#!/usr/bin/env bash
# Sends the corpus of requests through nginx, with the configuration of examples/howmany.nginx.conf but without TLS and
# without the limit of the rate.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/serve_lib.sh"
if ! command -v nginx >/dev/null; then
  skip "the corpus behind nginx" "nginx is not installed"
  finish
fi
start --record none --quiet
free=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
{
  printf 'daemon off; pid %s/nginx.pid; error_log %s/nginx.log; events { worker_connections 1024; }\n' "$work" "$work"
  printf 'http { access_log off;\n'
  for kind in client_body proxy fastcgi uwsgi scgi; do printf '%s_temp_path %s/%s;\n' $kind "$work" $kind; done
  sed "/ssl_cert/d; /limit_req/d; s/listen 443 ssl/listen 127.0.0.1:$free/; s/127.0.0.1:8080/127.0.0.1:$port/" examples/howmany.nginx.conf
  printf '}\n'
} >"$work/nginx.conf"
nginx -c "$work/nginx.conf" -e "$work/nginx.log" &
nginx=$!
trap 'kill "$nginx" 2>/dev/null; stop; rm -rf "$work"' EXIT
answers() { [ "$(get -H 'Host: localhost' "http://127.0.0.1:$free/healthz")" = ok ]; }
check "nginx passes requests on" wait_for 20 answers
run python3 tests/http/corpus.py "$free" tests/data/http_corpus.tsv proxy
echo "# $out"
say "$code" "no request of the corpus gets two answers or a 5xx of the server behind nginx"
kill "$nginx"
wait "$nginx" 2>/dev/null
stop
check "after that the exit code of the server is 0" test "$code" -eq 0
finish
