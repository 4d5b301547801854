#!/usr/bin/env bash
# Tests plans without a job file: a network from the catalog with its usual values, and keys that can be given as options.
. "$(dirname "$0")/lib.sh"

json() { # NAME FILTER COMMAND…: the JSON of the command makes the jq filter true
  local name=$1 filter=$2
  shift 2
  "$@" >"$work/json" 2>"$work/err"
  check "$name" jq -e "$filter" "$work/json"
}
same() { # NAME ARGUMENTS: the same answer as from a file with the same keys, except for notes and the name
  local name=$1
  shift
  howmany plan "$work/job.yaml" "${common[@]}" --json | jq 'del(.notes, .job)' >"$work/file"
  howmany plan "$@" "${common[@]}" --json | jq 'del(.notes, .job)' >"$work/named"
  check "$name" cmp "$work/file" "$work/named"
}

common=(--on p4d.24xlarge --max-n 64)
printf 'network: resnet-50\nbatch: 1024\ndataset: 1281167\nepochs: 90\n' >"$work/job.yaml"
same "a named network is planned with its usual values" resnet-50 --epochs 90
json "a note lists the values that are assumed" '.notes[0] == "assumed as usual for resnet-50: batch 1024, dataset 1281167"' \
  howmany plan resnet-50 --epochs 90 "${common[@]}" --json
json "a value that is given is not assumed" '.notes[0] == "assumed as usual for resnet-50: dataset 1281167"' \
  howmany plan resnet-50 --epochs 90 --batch 2048 "${common[@]}" --json
printf 'network: resnet-50\nbatch: 2048\niterations: 100\n' >"$work/job.yaml"
same "options change a named network" resnet-50 --batch 2048 --iterations 100
same "options change a file too" "$work/job.yaml" --batch 2048
# 300e9 tokens in sequences of 1,024 are 292,968,750 sequences, and with a batch of 512 that many iterations:
json "tokens of a network whose samples are sequences" ".iterations == $(((292968750 + 511) / 512))" howmany plan gpt-2 --tokens 300B --on h100 --json
printf 'network: llama-3-8b\nsequence: 8192\nbatch: 4M tokens\ntokens: 1T\n' >"$work/job.yaml"
common=(--on p5.48xlarge --max-n 64)
same "a named transformer is planned by layouts" llama-3-8b --tokens 1T
json "a note lists the values assumed for a transformer" '.notes[0] == "assumed as usual for llama-3-8b: sequence 8192, batch 4M tokens" and (.notes[1] | contains("tuned software")) and (.notes | length) == 2' \
  howmany plan llama-3-8b --tokens 1T "${common[@]}" --json
expect "the note is in the text" 0 "assumed as usual for llama-3-8b: sequence 8192" howmany plan llama-3-8b --tokens 1T "${common[@]}"

(cd "$work" && printf 'compute: 8 s / n\ncommunicate: 1 s * n\n' >resnet-50)
check "a file of the same name comes first" sh -c "cd $work && howmany plan resnet-50 --json | jq -e '.best.n == 3'"
mkdir -p "$HOME/.local/share/howmany/catalog"
printf 'networks:\n  bad-usual: {parameters: 1000, forward: 1 Mflop, usual: [1]}\n' >"$HOME/.local/share/howmany/catalog/own.yaml"
expect "usual values that are a list are refused" 2 "the key usual of the network bad-usual is not a map" howmany plan bad-usual --on p4d.24xlarge
rm -rf "$HOME/.local"
expect "a similar name is suggested" 2 "did you mean resnet-50?" howmany plan resnet-51 --on h100
expect "a missing file is a missing file" 2 "cannot open: No such file" howmany plan none/resnet-50 --on h100
expect "tokens of images are refused" 2 "the samples of the job are not sequences of tokens" howmany plan resnet-50 --tokens 1M --on h100
expect "tokens and iterations are refused together" 2 "tokens, iterations and epochs are not given alone" \
  howmany plan gpt-2 --tokens 1M --iterations 3 --on h100
expect "tokens are not sequences" 2 "this counts tokens, not sequences" howmany plan gpt-2 --tokens '3 sequences' --on h100
expect "an invalid value names its key" 2 "batch: 'many'" howmany plan resnet-50 --batch many --on h100
howmany serve --listen 127.0.0.1:0 --quiet >"$work/address" 2>/dev/null &
server=$!
begun() { [ -s "$work/address" ]; }
wait_for 30 begun
check "a server plans a named network" sh -c "curl -sS -m 10 -H 'Content-Type: application/json' '$(cat "$work/address")/v1/plan' -d '{\"job\":\"resnet-50\",\"on\":\"p4d.24xlarge\",\"epochs\":90}' | jq -e '.notes[0] | test(\"usual for resnet-50\")'"
kill $server
wait $server
finish
