#!/usr/bin/env bash
# Tests howmany serve over HTTP: every endpoint is compared with the command line, byte for byte; errors, tokens, limits, abuse and
# shutdown. The server listens on a free port of the loopback address.
. "$(dirname "$0")/lib.sh"
abuse=$HM_BUILD/tests/http/abuse
. "$(dirname "$0")/serve_lib.sh"

raw() { # TEXT: send it unchanged; print the first line of the response
  exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
  printf "$1" >&3
  timeout 15 head -n 1 <&3 | tr -d '\r'
  exec 3>&- 3<&-
}
first_line() { # NAME PATTERN TEXT
  local line
  line=$(raw "$3" 2>/dev/null)
  case $line in
  $2) say 0 "$1" ;;
  *) echo "# got: $line"; say 1 "$1" ;;
  esac
}

# ---- starting
expect "an address without a port is refused" 2 "is not an address and a port" howmany serve --listen here
expect "a port above 65535 is refused" 2 "is not an address and a port" howmany serve --listen 127.0.0.1:70000
expect "host names are refused" 2 "is not an address and a port" howmany serve --listen example.com:80
expect "listening on all addresses requires tokens" 2 "--token-file" howmany serve --listen 0.0.0.0:0
expect "an address of another machine is refused" 2 "this machine does not have that address" howmany serve --listen 192.0.2.1:0 --token-file <(howmany serve --make-token read | tail -n 1)
expect "a missing token file is reported" 2 "cannot open" howmany serve --token-file "$work/none"
expect "operands are refused" 2 "serve has no operands" howmany serve now
start --record none
check "the server prints its address" grep -qxE 'http://127\.0\.0\.1:[0-9]+' "$work/url"
expect "a port in use is reported" 2 "another program uses that port" howmany serve --listen "127.0.0.1:$port"

# ---- reading
check "healthz" test "$(get "$url/healthz")" = ok
check "readyz" test "$(get "$url/readyz")" = ok
howmany catalog list --json >"$work/expected"
check "the catalog equals that of the command" cmp "$work/expected" <(get "$url/v1/catalog")
for kind in machines fabrics networks accelerators; do
  howmany catalog list $kind --json >"$work/expected"
  check "the $kind of the catalog equal those of the command" cmp "$work/expected" <(get "$url/v1/catalog/$kind")
done
howmany catalog show m4.xlarge --json >"$work/expected"
check "one machine equals that of the command" cmp "$work/expected" <(get "$url/v1/catalog/machines/m4.xlarge")
check "a response from the cache is the same" cmp "$work/expected" <(get "$url/v1/catalog/machines/m4.xlarge")
problem "an unknown kind" 404 '.detail | contains("planets")' "$url/v1/catalog/planets"
problem "an unknown machine" 404 '.detail | contains("m5.huge")' "$url/v1/catalog/machines/m5.huge"
problem "an unknown path" 404 '.hint == "see /openapi.json"' "$url/v1/nothing"
problem "a POST to a path without one" 405 'true' -X POST -d '' "$url/healthz"
problem "a GET where a body is needed" 405 '.hint == "use POST"' "$url/v1/plan"
check "405 has an Allow header" grep -qi '^allow: POST' <(get -D - -o /dev/null "$url/v1/plan")
get -I "$url/v1/catalog" >"$work/head"
check "HEAD has the length and no body" test "$(sed -n 's/^Content-Length: \([0-9]*\).*/\1/p' "$work/head")" = "$(get "$url/v1/catalog" | wc -c)"
check "responses have an id" grep -qiE '^x-request-id: [0-9a-f]+-[0-9a-f]+' "$work/head"
check "connections are kept alive" grep -q 'Re-using existing connection' <(get -v -o /dev/null -o /dev/null "$url/healthz" "$url/v1/catalog" 2>&1)

# ---- the commands
for job in fig1 fig2-spark-ann gpt2 resnet50 alexnet; do
  same "plan: $job" /v1/plan application/yaml examples/$job.yaml howmany plan examples/$job.yaml --json
done
jq -n --rawfile job examples/resnet50.yaml '{job: $job, on: ["p4d.24xlarge", "g5.12xlarge"], deadline: "1h", "max-n": 256}' >"$work/ask.json"
same "plan: machines, a deadline and a ceiling" /v1/plan application/json "$work/ask.json" \
  howmany plan examples/resnet50.yaml --on p4d.24xlarge,g5.12xlarge --deadline 1h --max-n 256 --json
echo '{"compute": "10 s / n", "communicate": "0.1 s * ln(n)", "iterations": 100}' >"$work/job.json"
same "plan: a bare job" /v1/plan application/json "$work/job.json" howmany plan "$work/job.json" --json
jq -n --rawfile job examples/stragglers.yaml '{job: $job, platform: ["driver", "server"], consistency: "all", colocated: true, "max-n": 16}' >"$work/ask.json"
same "plan: platforms" /v1/plan application/json "$work/ask.json" \
  howmany plan examples/stragglers.yaml --platform driver,server --consistency all --colocated --max-n 16 --json
same "plan: options in the query" '/v1/plan?max-n=16&goal=time&weak' application/json "$work/job.json" howmany plan "$work/job.json" --max-n 16 --goal time --weak --json
same "plan: as CSV" '/v1/plan?csv' application/json "$work/job.json" howmany plan "$work/job.json" --csv
jq '{job: ., set: {iterations: 7, "cluster.price": "$1/h"}, budget: 5}' "$work/job.json" >"$work/ask.json"
same "plan: keys that are set" /v1/plan application/json "$work/ask.json" howmany plan "$work/job.json" --set iterations=7 --set 'cluster.price=$1/h' --budget 5 --json
jq '{job: ., on: {flops: {"32": "1 Tflop/s"}, fabric: {bandwidth: "1 Gbit/s"}}}' "$work/job.json" >"$work/ask.json"
check "plan: a cluster that is described" jq -e '.status == "ok"' <(post /v1/plan application/json "$work/ask.json")
printf '{"compute": "1 s", "communicate": "0.1 s * n"}' >"$work/worse.json"
check "plan: a job without a best n is answered with 200" jq -e '.status != "ok"' <(post /v1/plan application/json "$work/worse.json")
cp examples/runs.csv "$work/runs"
cd "$work" || exit 1
printf 'iter 0: loss 9.5, time 900.00ms, mfu 1%%\niter 10: loss 8.5, time 100.00ms, mfu 1%%\niter 20: loss 7.5, time 90.00ms, mfu 1%%\n' >files
same "import: a log of another tool" '/v1/import?set=n%3D4' application/octet-stream files howmany import files --set n=4 --json
if [ "$HM_ZLIB" = 1 ]; then
  gzip -c files >files.gz && mv files.gz files
  same "import: a compressed body" '/v1/import?set=n%3D4' application/gzip files howmany import files --set n=4 --json
fi
printf '\037\213\010\377damaged' >"$work/damaged.gz"
[ "${HM_ZLIB:-1}" = 0 ] || check "import: a damaged compressed body is an error of the client" jq -e '.status == 400' <(post /v1/import application/gzip "$work/damaged.gz")
check "import: a file cannot be named" jq -e '.status == 422 or .status == 400' <(echo '{"files": ["/etc/passwd"]}' | post /v1/import application/json /dev/stdin)
same "fit: CSV" '/v1/fit?target=64' text/csv runs howmany fit runs --target 64 --json
jq -n --rawfile runs runs '{runs: $runs, target: {n: 64}, level: "80%", residuals: true}' >ask.json
same "fit: in JSON" /v1/fit application/json ask.json howmany fit runs --target n=64 --level 80% --residuals --json
cp "$HM_SOURCE/examples/runs.jsonl" runs
same "fit: JSON lines" /v1/fit application/x-ndjson runs howmany fit runs --json
cp "$HM_SOURCE/examples/runs.csv" runs
same "plan: from runs" /v1/plan text/csv runs howmany plan --runs runs --json
jq -n '{n: "1..8", size: [0.1, 0.2, 0.4], budget: 10, criterion: "I", target: {n: 64, size: 1}}' >ask.json
same "design" /v1/design application/json ask.json howmany design --n 1..8 --size 0.1,0.2,0.4 --budget 10 --criterion I --target n=64,size=1 --json
jq '{job: ., n: [1, 2, 4, 8]}' job.json >ask.json
same "design: with a job" /v1/design application/json ask.json howmany design job.json --n 1,2,4,8 --json
awk 'BEGIN {print "algorithm,m,iteration,seconds,loss"; for (m = 1; m <= 8; m *= 2) for (i = 1; i <= 30; i++)
  printf "cocoa,%d,%d,%g,%.6g\n", m, i, i * (2 / m + 0.1), exp(-i / (4 + m)) + 1e-5}' >traces
same "advise: CSV" '/v1/advise?loss=1e-2' text/csv traces howmany advise traces --loss 1e-2 --json
jq -n --rawfile traces traces '{traces: $traces, within: "10s", m: [1, 2, 4], algorithms: "cocoa"}' >ask.json
same "advise: in JSON" /v1/advise application/json ask.json howmany advise traces --within 10s --m 1,2,4 --algorithms cocoa --json
howmany converge traces --save traces.json >/dev/null 2>&1
jq '{traces: ., loss: 0.01}' traces.json >ask.json
same "advise: a stored fit" /v1/advise application/json ask.json howmany advise traces.json --loss 0.01 --json
same "converge: CSV" '/v1/converge?best=0' text/csv traces howmany converge traces --best 0 --json
jq -n --rawfile traces traces '{traces: $traces, "leave-out": "each", best: 0}' >ask.json
same "converge: in JSON" /v1/converge application/json ask.json howmany converge traces --leave-out each --best 0 --json
printf '%s\n' '1 2' '2 3' '3 4' '4 1' '1 3' >graph
jq -n --rawfile graph graph '{graph: $graph, parts: [2, 3]}' >ask.json
same "graph" /v1/graph application/json ask.json howmany graph graph --parts 2,3 --json
jq -n '{graph: "4 5\n2 3 4\n1 3\n1 2 4\n1 3\n", format: "metis", parts: "2"}' >ask.json
check "graph: the format is named" jq -e '.vertices == 4 and .edges == 5 and .graph == "graph"' <(post /v1/graph application/json ask.json)
wrong "graph: a line that is not an edge" 400 '.source == "graph" and .line == 2' /v1/graph '{"graph": "1 2\nx 3\n", "parts": 2}'
wrong "graph: a file of the server cannot be named" 400 '.source == "graph" and .line == 1' /v1/graph '{"graph": "/etc/passwd", "parts": 2}'
awk 'BEGIN {print "algorithm,m,staleness,iteration,loss"; for (s = 0; s <= 4; s += 2) for (i = 1; i <= 40; i++)
  printf "sgd,8,%d,%d,%.6g\n", s, i, exp(-i / (s ? 40 : 20))}' >stale
howmany converge stale --best 0 --save stale.json >/dev/null 2>&1
for cost in . '{algorithm: "sgd", document: .}'; do
  jq --rawfile job "$HM_SOURCE/examples/servers.yaml" "{job: \$job, platform: \"server\", staleness: 3, servers: 2, \"stale-cost\": ($cost)}" stale.json >ask.json
  same "plan: the cost of staleness from a stored fit ($cost)" /v1/plan application/json ask.json \
    howmany plan "$HM_SOURCE/examples/servers.yaml" --platform server --staleness 3 --servers 2 --stale-cost stale.json --json
done
jq -n --rawfile job "$HM_SOURCE/examples/servers.yaml" '{job: $job, platform: "server", staleness: 3, servers: 2, "stale-cost": 1.5}' >ask.json
same "plan: the cost of staleness as a number" /v1/plan application/json ask.json \
  howmany plan "$HM_SOURCE/examples/servers.yaml" --platform server --staleness 3 --servers 2 --stale-cost 1.5 --json
jq -n --rawfile job "$HM_SOURCE/examples/servers.yaml" --arg file "$work/stale.json" '{job: $job, platform: "server", staleness: 3, "stale-cost": $file}' >ask.json
wrong "plan: the cost of staleness cannot name a file of the server" 422 '.detail | contains("a request cannot name")' /v1/plan "$(cat ask.json)"
cd "$HM_SOURCE" || exit 1

# ---- OpenAPI
get "$url/openapi.json" >"$work/openapi.json"
check "the OpenAPI document lists the paths" jq -e '.openapi == "3.1.0" and (.paths | has("/v1/plan") and has("/v1/advise"))' "$work/openapi.json"
check "it has every option except those for the terminal" jq -e '.components.schemas.plan_request.properties | has("deadline") and has("max_n") and has("job") and (has("plot") | not)' "$work/openapi.json"
check "it has every key of a job, with its range" jq -e '.components.schemas.job.properties.batch | .minimum == 1 and (.description | contains("samples"))' "$work/openapi.json"
check "every reference can be resolved" jq -e '. as $all | [.. | objects | select(has("$ref"))["$ref"] | ltrimstr("#/") | split("/") as $p | $all | getpath($p)] | all(. != null)' "$work/openapi.json"

# ---- invalid requests
wrong "JSON that ends early" 400 '.line == 2' /v1/plan $'{"job":\n{'
wrong "a field out of range" 422 '.field == "batch" and .line == 2 and (.hint | contains("at least 1"))' /v1/plan $'{"job":\n{"batch": 0}}'
wrong "a misspelt key" 422 '.field == "deadlin" and .hint == "did you mean deadline?"' /v1/plan '{"job":{},"deadlin":"6h"}'
wrong "an unknown value of an option" 422 '.field == "goal" and (.detail | contains("fame"))' /v1/plan '{"job":{"compute":"1 s","communicate":"none"},"goal":"fame"}'
wrong "a deadline without a unit" 422 '.field == "deadline"' /v1/plan '{"job":{"compute":"1 s","communicate":"none"},"deadline":"6"}'
wrong "a machine that is not in the catalog" 422 '.detail | contains("m5.huge")' /v1/plan '{"job":{"compute":"1 s","communicate":"none"},"on":"m5.huge"}'
wrong "runs that cannot be read" 422 '.source == "runs" and .line == 2' /v1/fit '{"runs":"n,seconds\n1,x\n"}'
wrong "advice without traces" 501 '.field == "store"' /v1/advise '{"loss": 1}'
wrong "a body that is not an object" 422 '.detail | contains("object")' /v1/plan '[1]'
wrong "JSON that is too deep" 422 '.detail | contains("deep")' /v1/plan "$(printf '[%.0s' $(seq 100))"
problem "a body without a content type" 415 '.field == "Content-Type"' -d x -H 'Content-Type:' "$url/v1/plan"
problem "a body of an unsupported type" 415 '.field == "Content-Type"' -d x -H 'Content-Type: text/html' "$url/v1/plan"
head -c 1100000 /dev/zero >"$work/large"
problem "a body that is too large" 413 'true' --data-binary @"$work/large" -H 'Expect:' -H 'Content-Type: application/json' "$url/v1/plan"
problem "a body that is too large, in chunks" 413 'true' --data-binary @"$work/large" -H 'Transfer-Encoding: chunked' -H 'Expect:' -H 'Content-Type: application/json' "$url/v1/plan"
problem "an unsupported method" 405 'true' -X DELETE "$url/v1/plan"
problem "a header that is too long" 431 'true' -H "X-Long: $(printf '0123456789%.0s' $(seq 1000))" "$url/healthz"
problem "an address that is too long" 414 'true' "$url/$(printf '0123456789%.0s' $(seq 450))"
problem "an invalid percent encoding" 400 '.field == "target"' "$url/%c0%80"

# ---- no file, no program
for body in '{"job":{"graph":{"file":"/etc/passwd"}}}' '{"job":"graph: {file: /etc/passwd}"}' \
  '{"job":{"graph":{"split":"dealt"}},"set":["graph.file=/etc/passwd"]}' \
  '{"job":{"compute":"1 s","communicate":"none"},"on":"examples/cluster-office.yaml"}' \
  '{"job":{"compute":"1 s","communicate":"none"},"on":"/etc/passwd"}'; do
  wrong "no file: $body" 422 '.detail | contains("a request cannot name")' /v1/plan "$body"
done
wrong "a plot is refused" 422 '.field == "plot" and (.detail | contains("command line"))' /v1/plan '{"job":{"compute":"1 s","communicate":"none"},"plot":"/tmp/a.svg"}'
wrong "a large graph is refused" 422 '.detail | contains("more than")' /v1/plan '{"job":{"graph":{"generate":"random","vertices":1e9,"edges":1e9}}}'
wrong "a curve with too many points is refused" 422 '.field == "max_n" and (.detail | contains("8192"))' /v1/plan '{"job":{"compute":"1 s / n","communicate":"none"},"max-n":1000000}'
wrong "a job with too many points is refused" 422 '.field == "max_n"' /v1/plan '{"job":{"compute":"1 s / n","communicate":"none","cluster":{"max_nodes":1000000}}}'
wrong "a list with too many values is refused" 422 '.detail | contains("at most 10000 are allowed")' /v1/fit '{"runs":"n,seconds\n1,1\n2,0.6\n","predict":"1..100000"}'
wrong "a design with too many candidates is refused" 422 '.detail | contains("at most 10000")' /v1/design '{"n":"1..1000","size":"0.1..1:100"}'
wrong "a path is not the contents of a file" 422 '.source == "runs"' /v1/fit '{"runs":"/etc/passwd"}'

# ---- framing, by hand
first_line "a valid request gets 200" 'HTTP/1.1 200*' 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'
first_line "two Content-Length headers get 400" 'HTTP/1.1 400*' 'POST /v1/plan HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n'
first_line "Content-Length with Transfer-Encoding gets 400" 'HTTP/1.1 400*' 'POST /v1/plan HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n'
first_line "another transfer coding than chunked gets 400" 'HTTP/1.1 400*' 'POST /v1/plan HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n'
first_line "two Host headers get 400" 'HTTP/1.1 400*' 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'
first_line "HTTP/1.1 without a Host gets 400" 'HTTP/1.1 400*' 'GET /healthz HTTP/1.1\r\n\r\n'
first_line "HTTP/1.0 needs no Host" 'HTTP/1.[01] 200*' 'GET /healthz HTTP/1.0\r\n\r\n'
first_line "a body on a GET" 'HTTP/1.1 400*' 'GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'
first_line "another expectation than 100-continue gets 417" 'HTTP/1.1 417*' 'POST /v1/plan HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: money\r\n\r\n'
first_line "NUL in the target" 'HTTP/1.1 400*' 'GET /healthz\0x HTTP/1.1\r\nHost: localhost\r\n\r\n'
first_line "100-continue" 'HTTP/1.1 100*' 'POST /v1/plan HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n'
first_line "no 100 for a body that is refused" 'HTTP/1.1 404*' 'POST /nothere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n'
first_line "a POST without a length gets 411" 'HTTP/1.1 4*' 'POST /v1/plan HTTP/1.1\r\nHost: a\r\n\r\n'
first_line "line ends without CR get 400" 'HTTP/1.1 400*' 'GET /healthz HTTP/1.1\nHost: a\nX: y\n\n'
first_line "a CR inside a header line gets 400" 'HTTP/1.1 400*' 'GET /healthz HTTP/1.1\r\nHost: a\r\nX: y\rZ: z\r\n\r\n'
first_line "a folded header line gets 400" 'HTTP/1.1 400*' 'GET /healthz HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n'
first_line "a NUL in a header gets 400" 'HTTP/1.1 400*' 'GET /healthz HTTP/1.1\r\nHost: a\r\nX: y\000z\r\n\r\n'
first_line "a space before the colon gets 400" 'HTTP/1.1 400*' 'GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n'

run python3 tests/http/corpus.py "$port" tests/data/http_corpus.tsv
echo "# $out"
say "$code" "each request of the corpus gets its answer"

# ---- rights that the server gives up
check "no new privileges" grep -qE '^NoNewPrivs:\s+1' "/proc/$pid/status"
if [ "$HM_SANITIZE" = none ]; then
  check "system calls are restricted in every thread" test "$(cat /proc/"$pid"/task/*/status | grep -cE '^Seccomp:\s+2')" -eq "$(ls "/proc/$pid/task" | wc -l)"
fi

# ---- counters and the log
get "$url/metrics" >"$work/metrics"
for line in 'howmany_http_requests_total{path="/v1/plan",status="200"}' 'howmany_http_requests_total{path="/v1/plan",status="422"}' \
  'howmany_http_request_seconds_bucket{le="+Inf"}' 'howmany_http_refused_total{reason="framing"}' 'howmany_http_connections ' 'howmany_cache_total{found="yes"}'; do
  check "metrics: $line" grep -qF "$line" "$work/metrics"
done
check "each line of the log is JSON with an id" jq -se 'length > 50 and all(.[]; has("time") and (has("id") or has("cut")))' "$work/log"
check "the log has status and time" jq -se 'any(.[]; .path == "/v1/plan" and .status == 422 and .seconds >= 0 and .received > 0)' "$work/log"

# ---- the end
awk 'BEGIN {print "algorithm,m,iteration,seconds,loss"; for (a = 0; a < 3; a++) for (m = 1; m <= 64; m *= 2) for (i = 1; i <= 60; i++)
  printf "a%d,%d,%d,%g,%.6g\n", a, m, i, i * (2 / m + 0.1), exp(-i / (4 + a + m)) + 1e-5}' >"$work/slow"
post '/v1/advise?loss=1e-3' text/csv "$work/slow" -w '%{http_code}' -o "$work/answer" >"$work/status" &
asking=$!
working() { get "$url/metrics" | grep -q '^howmany_http_working [1-9]'; }
wait_for 20 working
stop
wait $asking
check "after SIGTERM a running request is still answered" test "$(cat "$work/status")" = 200
check "after SIGTERM the exit code is 0" test "$code" -eq 0
check "after the end the port is closed" sh -c "! curl -s -m 2 $url/healthz"

# ---- tokens
howmany serve --make-token read >"$work/reader"
howmany serve --make-token write >"$work/writer"
check "a token is 64 hex digits" grep -qxE '[0-9a-f]{64}' <(head -n 1 "$work/reader")
check "its line is its SHA-256 and the scope" test "$(tail -n 1 "$work/reader")" = "$(head -n 1 "$work/reader" | tr -d '\n' | sha256sum | cut -d ' ' -f 1) read"
expect "an unknown scope" 2 "is not read, write" howmany serve --make-token all
{ echo "# who may ask"; tail -n 1 "$work/reader"; tail -n 1 "$work/writer"; } >"$work/tokens"
echo "abc read" >"$work/bad-tokens"
expect "an invalid line of a token file" 2 "bad-tokens:1" howmany serve --token-file "$work/bad-tokens"
start --token-file "$work/tokens" --quiet
reader=$(head -n 1 "$work/reader") writer=$(head -n 1 "$work/writer")
problem "without a token" 401 '.detail == "a token is needed"' "$url/v1/catalog"
check "401 has a WWW-Authenticate header" grep -qi '^www-authenticate: bearer' <(get -D - -o /dev/null "$url/v1/catalog")
problem "with an unknown token" 401 '.detail == "the token is unknown"' -H "Authorization: Bearer ${reader%?}" "$url/v1/catalog"
problem "with a token of another scope" 403 '.hint == "this path needs the scope read"' -H "Authorization: Bearer $writer" "$url/v1/catalog"
check "with a valid token" cmp <(howmany catalog list --json) <(get -H "Authorization: Bearer $reader" "$url/v1/catalog")
check "an address in numbers needs no --host" test "$(get -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $reader" -H 'Host: 192.0.2.1:80' "$url/v1/catalog")" = 200
problem "a Host that is not listed" 403 '.field == "Host" and (.hint | contains("--host"))' -H "Authorization: Bearer $reader" -H 'Host: rebound.example' "$url/v1/catalog"
problem "an Origin that is not listed" 403 '.field == "Origin"' -H "Authorization: Bearer $reader" -H 'Origin: https://rebound.example' "$url/v1/catalog"
problem "an opaque Origin" 403 '.field == "Origin"' -H "Authorization: Bearer $reader" -H 'Origin: null' "$url/v1/catalog"
first_line "a token is checked before the body is read" 'HTTP/1.1 401*' 'POST /v1/plan HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n'
check "the health check needs no token" test "$(get "$url/healthz")" = ok
check "--quiet writes no log" test ! -s "$work/log"
start --token-file "$work/tokens" --host other.example,good.example --quiet
check "--host names a server" test "$(get -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $reader" -H 'Host: Good.example:443' -H 'Origin: https://good.example' "$url/v1/catalog")" = 200
problem "part of a name is another name" 403 '.field == "Host"' -H "Authorization: Bearer $reader" -H 'Host: d.example' "$url/v1/catalog"
expect "--host needs tokens" 2 "--token-file" howmany serve --listen 127.0.0.1:0 --host good.example

# ---- limits
start --per-address 3 --quiet
healthy() { [ "$(get "$url/healthz")" = ok ]; }
unhealthy() { ! healthy; }
exec 4<>"/dev/tcp/127.0.0.1/$port" 5<>"/dev/tcp/127.0.0.1/$port" 6<>"/dev/tcp/127.0.0.1/$port"
check "a fourth connection of an address is closed" wait_for 5 unhealthy
exec 4>&- 5>&- 6>&-
check "the address is served again after the others have closed" wait_for 5 healthy
start --connections 2 --per-address 100 --quiet
exec 4<>"/dev/tcp/127.0.0.1/$port" 5<>"/dev/tcp/127.0.0.1/$port"
wait_for 5 healthy # Connections make room when they have waited for 0.1 s.
check "connections that wait make room for others" sh -c "for i in 1 2 3 4 5; do [ \"\$(curl -s -m 20 $url/healthz)\" = ok ] || exit 1; done"
exec 4>&- 5>&-
# An address with one connection must keep it, although it has waited longest, while an address with 19 connections loses some of them.
start --connections 20 --per-address 100 --quiet
cat >"$work/crowd.py" <<'END'
import socket, sys, time
at = ("127.0.0.1", int(sys.argv[1]))
alone = socket.create_connection(at)
crowd = [socket.create_connection(at, source_address=("127.0.0.2", 0)) for _ in range(19)]
time.sleep(0.3)  # The connections wait for longer than the 0.1 s after which they may be closed.
for _ in range(5):
    socket.create_connection(at, source_address=("127.0.0.3", 0)).sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
time.sleep(0.1)
alone.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
sys.exit(not alone.makefile("rb").read().startswith(b"HTTP/1.1 200"))
END
check "an address with many connections loses them first" python3 "$work/crowd.py" "$port"
# Clients that ask for much and read nothing wait, too.
start --connections 20 --per-address 400 --quiet
cat >"$work/readers.py" <<'END'
import socket, sys, time
at = ("127.0.0.1", int(sys.argv[1]))
readers = []
for i in range(120):
    readers.append(socket.socket())
    readers[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    readers[-1].connect(at)
    try:
        readers[-1].sendall(b"GET /assets/page.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)
    except OSError:
        pass  # The server has closed the connection.
    time.sleep(0.01)
time.sleep(0.7)  # Such a connection may be closed after 0.5 s.
good = 0
for i in range(20):
    with socket.create_connection(at, timeout=20) as s:
        s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        good += s.recv(1000).startswith(b"HTTP/1.1 200")
sys.exit(good != 20)
END
check "connections that do not read their responses make room for others" python3 "$work/readers.py" "$port"
start --connections 2 --per-address 100 --quiet
# Two requests that take long use the two connections before the third comes.
cat >"$work/long.json" <<'END'
{"n": "1..100", "size": "0.01..1:100", "budget": 1000, "terms": "1,size/n,ln(n),n,size,size*n,sqrt(n),1/n"}
END
long=(--data-binary @"$work/long.json" -H 'Content-Type: application/json')
cat >"$work/third.py" <<'END'
import socket, sys, time
def send(request):
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30)
    s.sendall(request)
    return s
body = open(sys.argv[2], "rb").read()
head = b"POST /v1/design HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
long = [send(head + body) for _ in range(2)]
time.sleep(0.5)  # The server has begun both.
answer = send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").makefile("rb").read()
print(answer)
sys.exit(not (answer.startswith(b"HTTP/1.1 503") and b"retry after a second" in answer))
END
check "a connection above the limit gets 503 and a time to retry" python3 "$work/third.py" "$port" "$work/long.json"
start --workers 1 --queue 0 --quiet
for k in 1 2 3 4 5 6 7 8; do
  post "/v1/advise?loss=1e-3&seed=$k" text/csv "$work/slow" -o /dev/null -D "$work/busy-$k" -w '%{http_code}\n' >>"$work/busy" &
  asked[k]=$!
done
wait "${asked[@]}"
check "overload gets 503 at once" grep -qx 503 "$work/busy"
check "other requests are answered meanwhile" grep -qx 200 "$work/busy"
check "503 has a Retry-After header" grep -qi '^retry-after: 1' "$work"/busy-*

# ---- budgets
start --time-limit 1s --quiet
problem "a request over its time limit" 503 \
  '.type == "urn:howmany:problem:budget" and .field == "n" and (.detail | contains("time limit of 1 s"))' "${long[@]}" "$url/v1/design"
problem "a request that takes far longer than its time limit" 422 \
  '.type == "urn:howmany:problem:limit" and .field == "trials" and (.detail | contains("its time limit is 1 s")) and (.hint | contains("fewer trials"))' \
  -d '{"generate": "random", "vertices": 1000, "edges": 5000, "split": "random", "trials": 100000, "parts": "2..32"}' -H 'Content-Type: application/json' "$url/v1/graph"
start --memory-limit 1MB --quiet
problem "a request over its memory limit" 503 \
  '.type == "urn:howmany:problem:budget" and (.detail | contains("limit of 1 MB"))' "${long[@]}" "$url/v1/design"
start --memory-limit 100kB --quiet
problem "a limit on a path with a name is not a missing name" 503 '.type == "urn:howmany:problem:budget"' "$url/v1/catalog/networks/vit-l-16"
problem "a missing name is one" 404 '.type == "urn:howmany:problem:path"' "$url/v1/catalog/networks/nonesuch"
start --buffer-limit 100kB --quiet
{ printf '{"compute": "10 s / n", "communicate": "0.1 s * n", "name": "'; head -c 300000 /dev/zero | tr '\0' a; printf '"}'; } >"$work/large.json"
problem "a body that does not fit in the memory for all bodies" 503 '.type == "urn:howmany:problem:memory"' --data-binary @"$work/large.json" -H 'Content-Type: application/json' "$url/v1/plan"
cat >"$work/holders.py" <<'END'
import socket, sys, time
at = ("127.0.0.1", int(sys.argv[1]))
ask = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
readers = [socket.socket() for i in range(40)]
for s in readers:
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    s.connect(at)
    s.sendall(ask * 200)
time.sleep(1)  # Such a connection may be closed after 0.5 s.
good = 0
for i in range(10):
    with socket.create_connection(at, timeout=20) as s:
        s.sendall(ask)
        good += s.recv(1000).startswith(b"HTTP/1.1 200")
sys.exit(good != 10)
END
problem "an answer that does not fit in the memory for all answers" 503 '.type == "urn:howmany:problem:memory"' -d '{"compute": "10 s / n", "communicate": "0.1 s * n"}' -H 'Content-Type: application/json' "$url/v1/plan?max_n=4000"
post '/v1/plan' application/yaml "$HM_SOURCE/examples/fig1.yaml" -w '%{http_code}' -o /dev/null >"$work/status"
check "the memory of refused requests is returned" test "$(cat "$work/status")" = 200
start --buffer-limit 2MB --quiet
check "the memory of responses that are not read is used for others" python3 "$work/holders.py" "$port"
start --time-limit 10min --workers 2
for k in 1 2; do
  curl -s -m 600 "${long[@]}" "$url/v1/design" -o /dev/null &
  asked[k]=$!
done
two_working() { get "$url/metrics" | grep -q '^howmany_http_working 2'; }
none_working() { get "$url/metrics" | grep -q '^howmany_http_working 0'; }
check "two long requests run" wait_for 20 two_working
post '/v1/plan' application/yaml "$HM_SOURCE/examples/alexnet.yaml" -w '%{http_code}' -o /dev/null >"$work/status"
check "two long requests do not block others" test "$(cat "$work/status")" = 200
check "they are still running" two_working
kill "${asked[@]:1:2}"
wait "${asked[@]:1:2}" 2>/dev/null
check "work ends when its client is gone" wait_for 20 none_working
gone_logged() { [ "$(jq -s '[.[] | select(.cut == "gone" or (.path == "/v1/design" and .status == 503))] | length' "$work/log")" = 2 ]; }
check "the log names requests whose client is gone" wait_for 10 gone_logged

# ---- abuse
start --quiet --per-address 2000
run "$abuse" "$port" malformed "${HM_MALFORMED:-5000}"
echo "$out"
say "$code" "malformed requests get a 4xx or a close"
run "$abuse" "$port" drip "${HM_DRIP:-200}"
echo "$out"
say "$code" "clients that send one byte at a time are disconnected within 15 s, and others are served meanwhile"
stop
check "after the abuse the exit code is 0" test "$code" -eq 0
check "the abuse leaves nothing in the log" test ! -s "$work/log"
# ---- a log that is not read
mkfifo "$work/pipe"
exec 4<>"$work/pipe"
: >"$work/url"
howmany serve --listen 127.0.0.1:0 --record none >"$work/url" 2>"$work/pipe" &
pid=$!
wait_for 30 started
url=$(cat "$work/url")
check "requests are answered while no program reads the log" test "$(timeout 100 curl -s -m 20 "$url/healthz?[1-4000]" | grep -cx ok)" = 4000
dropped=$(get "$url/metrics" | sed -n 's/^howmany_log_dropped_total //p')
check "metrics: lines of the log were dropped ($dropped)" test "${dropped:-0}" -gt 0
cat <&4 >"$work/read" &
reading=$!
reported() { jq -se "map(.dropped // 0) | add >= $dropped" "$work/read"; }
check "the log tells how many lines it lacks when it is read again" wait_for 20 reported
get "$url/healthz" >/dev/null
last_logged() { jq -se '.[-1] | .path == "/healthz" and .status == 200' "$work/read"; }
check "later requests are logged" wait_for 20 last_logged
kill $reading
wait $reading 2>/dev/null
timeout 100 curl -s -m 20 "$url/healthz?[1-2000]" >/dev/null
stop
check "a server whose log is not read ends after SIGTERM" test "$code" -eq 0
exec 4>&-
# ---- names of the server
start --record none
for name in localhost 127.0.0.1 127.0.0.53:80 '[::1]:8080' LOCALHOST:1; do
  check "without tokens, Host: $name is answered" grep -qx 200 <(get -o /dev/null -w '%{http_code}' -H "Host: $name" "$url/v1/catalog/fabrics")
done
for name in howmany.example.com 127.0.0.1.example.com localhost.example.com 10.0.0.1 '[::2]'; do
  problem "without tokens, Host: $name is refused" 403 '.field == "Host" and (.hint | contains("--token-file"))' -H "Host: $name" "$url/v1/catalog/fabrics"
done
# Runs the command of the systemd unit with this program and another port; requests need a token.
printf '%s read\n' "$(printf secret | sha256sum | cut -c 1-64)" >"$work/tokens"
unit=$(sed -n 's|^ExecStart=[^ ]* serve ||p' examples/howmany.service | sed "s|127.0.0.1:8080|127.0.0.1:0|; s|%d/tokens|$work/tokens|; s|--record [^ ]*|--record none|")
stop
start $unit
problem "the systemd unit answers nothing without a token" 401 '.field == "Authorization"' "$url/v1/catalog/fabrics"
check "the systemd unit answers with a token" grep -qx 200 <(get -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer secret' -H 'Host: howmany.example.com' "$url/v1/catalog/fabrics")
check "the systemd unit does not start without its tokens" grep -q '^LoadCredential=tokens:' examples/howmany.service
# The exposure is given in tenths; --offline, which needs no running systemd, came with version 250.
if systemd-analyze security --help 2>/dev/null | grep -q -e --offline; then
  check "the systemd unit has an exposure of at most 2.0" systemd-analyze security --no-pager --offline=true --threshold=20 examples/howmany.service
else
  skip "the exposure of the systemd unit" "systemd-analyze is missing or older than version 250"
fi
stop
finish
