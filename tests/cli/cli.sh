#!/usr/bin/env bash
# Tests the command line: options, files, pipes, terminals and exit codes of plan, catalog, graph and validate.
. "$(dirname "$0")/lib.sh"
fig2=examples/fig2-spark-ann.yaml

json() { # NAME FILTER COMMAND…: the JSON of the command makes the jq filter true
  local name=$1 filter=$2
  shift 2
  "$@" >"$work/json" 2>"$work/err"
  check "$name" jq -e "$filter" "$work/json"
}

# plan: the headline figures
expect "plan answers fig. 1" 0 "Use 9 workers: 2.70 s an iteration, 3.71x faster than one." howmany plan examples/fig1.yaml
expect "plan answers fig. 2" 0 "Use 8 workers: 13.3 s an iteration, 3.96x faster than one." howmany plan $fig2
json "json has the documented shape" '.best.n == 9 and .recommended.n == 8 and .slack == 0.05 and
  .best.low_s < .best.time_s and .best.high_s > .best.time_s and (.curve | map(.low_s != null and .node_s > 0) | all) and
  (.advised_runs.n|length) == 3 and .advised_runs.within < 0.2 and (.curve|length) == 13 and .knee.n == 4 and
  (.best|has("time_s") and has("speedup") and has("efficiency") and has("cost")) and
  .limit.kind == "bandwidth" and (.help|length) == 2 and (.pareto|length) > 1' howmany plan $fig2 --json
json "fig. 3 is relative to 50" '.reference == 50 and .scaling == "weak" and
  (.curve[] | select(.n == 100).speedup * 1e5 | round) == 174236' howmany plan examples/fig3-inception.yaml --json
json "standard input is read" '.best.n == 14' sh -c 'howmany plan - --json <examples/fig1.yaml'
expect "csv has a header and rows" 0 "n,nodes,time_s" howmany plan $fig2 --csv
check "csv has 13 rows" sh -c "[ \$(howmany plan $fig2 --csv | wc -l) = 14 ]"
expect "the table marks the best" 0 "best" howmany plan $fig2 --table
expect "layers are counted" 0 "25557032" howmany plan examples/resnet50.yaml --layers

# overrides
json "--set changes the job" '.best.n == 3' howmany plan examples/fig1.yaml --set 'communicate=log2(n)*2.3' --set iterations=5 --json
json "--set reaches into lists" '.best.scheme == "ring"' howmany plan $fig2 --set communicate.1.scheme=ring --set communicate.1.what=gradients --json
json "--max-n lowers the ceiling" '(.curve|length) == 5' howmany plan $fig2 --max-n 5 --json
json "--weak changes the scaling" '.scaling == "weak"' howmany plan examples/fig1.yaml --weak --json
json "--reference changes the base" '(.curve[] | select(.n == 2).speedup) == 1' howmany plan examples/fig1.yaml --reference 2 --json
json "--on takes a catalog machine" '.machine == "m5.4xlarge" and .best.cost > 0' howmany plan examples/gpt2.yaml --set precision=32 --set memory='1 GB' --on m5.4xlarge --max-n 64 --json
json "--on takes a cluster file" '(.curve|length) == 16 and .best.cost == 0' howmany plan $fig2 --on examples/cluster-office.yaml --json
json "--set cluster.* applies to --on" '.best.cost > 0' howmany plan $fig2 --on xeon-e3-1240 --set cluster.price='$1/h' --max-n 9 --json
json "--fabric names a fabric" '.fabric == "10gbe" and .best.n == 13' howmany plan $fig2 --fabric 10gbe --json
json "--network is the earlier name of --fabric" '.fabric == "10gbe" and .best.n == 13' howmany plan $fig2 --network 10gbe --json
json "the earlier key of the fabric is read with a note" '.best.n == 13 and any(.notes[]; test("network of a cluster is called fabric"))' \
  howmany plan $fig2 --set cluster.network=10gbe --json
json "--on with several machines ranks them" '(.ranking|length) == 2 and .ranking[0].machine == .machine and .ranking[1].why != null' howmany plan $fig2 --on office-pc,xeon-e3-1240 --max-n 13 --json
json "--scheme all ranks the schemes" '(.ranking|length) == 5 and ([.ranking[].scheme]|index("ring")) != null' howmany plan examples/gpt2.yaml --scheme all --json

# goals
json "with a deadline the goal is cost" '.goal == "cost" and .best.total_s <= 180000 and .in_deadline.n == .best.n and .certainty == 0.9 and
  .best.meets >= 0.9 and .best.meets <= 0.99 and all(.curve[]; .meets >= 0 and .meets <= 0.99) and
  any(.curve[]; .total_s <= 180000 and .meets < 0.9)' howmany plan examples/gpt2.yaml --deadline 50h --json
json "another certainty is met" '.certainty == 0.6 and .best.meets >= 0.6 and .best.meets < 0.9' howmany plan examples/gpt2.yaml --deadline 50h --certainty 60% --json
expect "a deadline is met with a probability" 0 "limits       meets the deadline of 2.08 days with " howmany plan examples/gpt2.yaml --deadline 50h
expect "a certainty of 100 % is refused" 2 "--certainty" howmany plan examples/gpt2.yaml --deadline 50h --certainty 100%
json "with a budget the goal is time" '.goal == "time" and .best.cost <= 7000 and .best.cost > 0 and .in_budget.n == .best.n and .best.meets >= 0.9' howmany plan examples/gpt2.yaml --budget 7000 --json
json "a budget may have a dollar sign" '.best.cost <= 7000 and .best.cost > 0' howmany plan examples/gpt2.yaml --budget '$7000' --json
json "balance" '.goal == "balance"' howmany plan examples/gpt2.yaml --goal balance --alpha 0.001 --beta 1 --json
json "--faster" '.faster.n == 3' howmany plan examples/fig1.yaml --faster 2x --json
json "--work" '.work.n == 4' howmany plan examples/fig1.yaml --work 3x --json

# If there is no feasible answer, the exit code is 1 and the nearest one is shown.
expect "a missed deadline exits 1" 1 "No number of workers meets the deadline with a probability of 90 %." howmany plan examples/gpt2.yaml --deadline 1min
expect "a missed deadline has a nearest miss" 1 "nearest miss" howmany plan examples/gpt2.yaml --deadline 1min
expect "a missed deadline has a probability" 1 "would meet the deadline of 60.0 s with less than 1 % (asked 90 %)" howmany plan examples/gpt2.yaml --deadline 1min
expect "a missed budget exits 1" 1 "No number of workers stays within the budget with a probability of 90 %." howmany plan examples/gpt2.yaml --budget 1
expect "an impossible factor exits 1" 1 "No number of workers is that much faster." howmany plan examples/fig1.yaml --faster 50x
expect "no speedup exits 1" 1 "More workers do not help" howmany plan examples/fig1.yaml --set communicate=100*n
expect "one worker is an answer with its time" 1 "Use 1 worker: 110 s an iteration. More workers do not help." howmany plan examples/fig1.yaml --set communicate=100*n
expect "and with the next best" 1 "next best    2 workers" howmany plan examples/fig1.yaml --set communicate=100*n
json "an accelerator by name keeps the fabric of the job" '.machine == "h100" and .best.n > 1 and any(.notes[]; test("kept from the job: .*max_nodes.* and fabric"))' howmany plan examples/resnet50.yaml --on h100 --json
json "so does that of a transformer, with a note" '.machine == "h100" and any(.notes[]; test("kept from the job: .*fabric"))' howmany plan examples/llama-3-70b.yaml --on h100 --n 64 --json
mkdir -p "$work/config"
echo '{"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":128256,"model_type":"llama"}' >"$work/config/config.json"
printf 'network: config.json\nsequence: 8192\nbatch: 64\ncluster: p5.48xlarge\n' >"$work/config/job.yaml"
json "the network of a job may be a config.json beside it" '.parameters == 8030261248' howmany plan "$work/config/job.yaml" --n 8 --json
json "a cluster in an assignment may have a network" '.best.n > 8' howmany plan resnet-50 --epochs 90 --set 'cluster={machine: h100-sxm, accelerators: 8, network: 3200 Gbit/s, max_nodes: 4}' --json
check "the answer to --faster follows the first line" sh -c "howmany plan examples/fig1.yaml --faster 3 | sed -n 2p | grep -q '^  faster *to be 3.00x faster: '"
check "the answer to --work too" sh -c "howmany plan examples/fig1.yaml --work 2 | sed -n 2p | grep -q '^  more work *for 2.00x the work'"
for pair in gaudi2=gaudi2-8 tpu-v5p=tpu-v5p-8 h800=hgx-h800; do # The first two have no rate for fp16.
  json "${pair%=*} without a fabric is planned in ${pair#*=}" ".machine == \"${pair#*=}\"" howmany plan llama-3-8b --tokens 1B --on "${pair%=*}" --max-n 16 --json
done
json "an accelerator without a fabric is planned in the servers that hold it" '.machine == "dgx-h100" and .best.n > 8 and any(.notes[]; test("h100 is an accelerator: nodes of 8 are assumed, as in dgx-h100 .with a price: p5.48xlarge"))' howmany plan gpt-2 --on h100 --json
json "with the same answer as the server" '.best.time_s == '"$(howmany plan gpt-2 --on dgx-h100 --json | jq .best.time_s)" howmany plan gpt-2 --on h100 --json
json "max_n 1 is the accelerator itself" '.best.n == 1' howmany plan gpt-2 --on h100 --max-n 1 --json
json "an accelerator that no server holds is one" '.best.n == 1 and any(.notes[]; test("nothing connects several of these"))' howmany plan gpt-2 --on rtx-4090 --json
json "a card for PCIe is not in servers of modules" '.machine == "a100-pcie"' howmany plan gpt-2 --on a100-pcie --json
json "an assignment that makes a node of several is kept" '.best.n <= 2' howmany plan gpt-2 --on h100 --set cluster.accelerators=2 --json
expect "an error of a short option names it" 2 "howmany: --tokens: '2t' is not a number of tokens" howmany plan llama-3-8b --on dgx-h100 --tokens 2t
expect "an error of a fabric names it" 2 "howmany: --fabric: no fabric 'infinband'" howmany plan examples/llama-3-70b.yaml --fabric infinband
expect "too little memory exits 1" 1 "does not fit in memory with any number" howmany plan examples/gpt2.yaml --set cluster.memory='1 GB'
json "the JSON of a missed deadline has all members" '.status == "unreached" and .best == null and .missed == "deadline" and .nearest.n > 0 and .nearest_gap > 1' howmany plan examples/gpt2.yaml --deadline 1min --json

# plots
for kind in svg png pdf; do
  check "plot $kind" sh -c "howmany plan $fig2 --plot $work/p.$kind && [ -s $work/p.$kind ]"
done
check "a picture of a decade has logarithmic axes, the ideal line, and time in its title" sh -c "howmany plan resnet-50 --epochs 90 --on p4d.24xlarge --max-n 64 --plot $work/log.svg >/dev/null && for word in ideal 'p4d.24xlarge; use' '> ?10<' '> ?1<' interval; do grep -qE \"\$word\" $work/log.svg || exit 1; done"
check "a picture of fewer workers has no ideal line" sh -c "howmany plan $fig2 --max-n 8 --plot $work/lin.svg >/dev/null && ! grep -q ideal $work/lin.svg"
check "with closed standard files plots are written too" sh -c "howmany plan $fig2 --plot $work/closed.png <&- >&- 2>&-; [ \$? = 2 ] && head -c 4 $work/closed.png | grep -q PNG"
expect "an answer that cannot be printed is an error" 2 "cannot write: Bad file descriptor" sh -c "howmany plan $fig2 >&-"
expect "--version too" 2 "cannot write: " sh -c "howmany --version >&-"
check "a plot shows the interval" grep -q '>interval<' "$work/p.svg"
check "--plot writes an SVG file" grep -q '<svg' "$work/p.svg"
check "--plot writes a PNG file" sh -c "head -c 4 $work/p.png | grep -q PNG"
expect "an unknown ending of --plot is refused" 2 "must end in .svg, .png or .pdf" howmany plan $fig2 --plot "$work/p.gif"
check "validate plots" sh -c "howmany validate --plot $work/v.svg && grep -q '<svg' $work/v.svg"
expect "without gnuplot the message says what to install" 2 "gnuplot" env PATH="$(dirname "$HM_PROGRAM")" howmany plan $fig2 --plot "$work/q.svg"

# Invalid options and operands.
expect "a missing command is refused" 2 "" howmany
expect "an unknown command gets a suggestion" 2 "did you mean plan?" howmany paln
expect "an unknown option gets a suggestion" 2 "did you mean --deadline?" howmany plan $fig2 --dedline 3h
expect "an option without its value is refused" 2 "--deadline needs a value" howmany plan $fig2 --deadline
expect "a second job is refused" 2 "only one JOB can be given" howmany plan $fig2 $fig2
expect "a missing job is refused" 2 "no job is given" howmany plan
expect "a missing file is reported" 2 "No such file" howmany plan nowhere.yaml
expect "a folder without a job is reported" 2 "no file of the folder gives a network or a job" howmany plan docs/how-to
expect "a deadline without a unit is refused" 2 "has no unit" howmany plan $fig2 --deadline 6
expect "a negative factor is refused" 2 "is not more than 0" howmany plan $fig2 --faster -2x
expect "an unknown machine gets a suggestion" 2 "did you mean m5.4xlarge?" howmany plan $fig2 --on m5.4xlrge
expect "an unknown fabric is refused" 2 "no fabric '10gbee'" howmany plan $fig2 --fabric 10gbee
expect "an unknown scheme gets a suggestion" 2 "did you mean ring?" howmany plan $fig2 --scheme rign
expect "a scheme that is not an all-reduce is refused" 2 "'torrent' is not ring" howmany plan $fig2 --scheme torrent
expect "an unknown goal is refused" 2 "is not time, cost or balance" howmany plan $fig2 --goal speed
expect "--json with --csv is refused" 2 "exclude each other" howmany plan $fig2 --json --csv
expect "a budget without a price is refused" 2 "a budget needs a price" howmany plan $fig2 --budget 3
expect "--set without a value is refused" 2 "is not of the form key=value" howmany plan $fig2 --set batch
expect "an unknown key in --set gets a suggestion" 2 "did you mean batch?" howmany plan $fig2 --set bathc=3
expect "--layers without a network is refused" 2 "the job has no network with layers" howmany plan $fig2 --layers

# Files that are too large.
head -c 10000000 /dev/zero | tr '\0' 'a' >"$work/large.yaml"
expect "a file of 10 MB is refused" 2 "larger than 4 MiB" howmany plan "$work/large.yaml"
expect "an endless file is refused" 2 "larger than 4 MiB" timeout 10 howmany plan /dev/zero
head -c 100000 /dev/urandom >"$work/junk.yaml"
expect "a binary file is refused" 2 "junk.yaml" howmany plan "$work/junk.yaml"

# pipes and terminals
check "a closed pipe gives no error message" bash -c "howmany plan examples/gpt2.yaml --json 2>$work/err | head -n 1 >/dev/null; [ ! -s $work/err ]"
expect "a full disk is reported" 2 "cannot write" sh -c "howmany plan $fig2 --json >/dev/full"
check "no escape sequences in a pipe" sh -c "! howmany plan $fig2 | grep -q \"\$(printf '\\033')\""
check "a terminal gets a chart" sh -c "script -qec 'env -u NO_COLOR TERM=xterm howmany plan $fig2' /dev/null </dev/null | grep -q 'speedup against workers'"
check "a terminal gets colours" sh -c "script -qec 'env -u NO_COLOR TERM=xterm howmany plan $fig2' /dev/null </dev/null | grep -q \"\$(printf '\\033')\""
check "NO_COLOR disables colours" sh -c "! script -qec 'TERM=xterm NO_COLOR=1 howmany plan $fig2' /dev/null </dev/null | grep -q \"\$(printf '\\033')\""
check "--no-chart disables the chart" sh -c "! script -qec 'howmany plan $fig2 --no-chart' /dev/null </dev/null | grep -q 'speedup against'"
check "the output fits a narrow terminal" sh -c "[ \$(script -qec 'COLUMNS=44 TERM=dumb howmany plan $fig2' /dev/null </dev/null | tr -d '\\r' | wc -L) -le 44 ]"
check "plain ASCII without UTF-8" sh -c "! LC_ALL=C howmany plan $fig2 --table | LC_ALL=C grep -q '[^ -~]'"

# gnuplot must not execute file names.
mkdir "$work/plots" && cp $fig2 "$work/plots/x'; system('touch PWNED') #.yaml"
check "a file name cannot inject gnuplot commands" sh -c "cd '$work/plots' && howmany validate ./x*.yaml --plot v.svg && [ ! -e PWNED ] && [ -s v.svg ]"
expect "a plot cannot be written to a pipe" 2 "is not the name of a file" howmany plan $fig2 --plot "|touch $work/PWNED.svg"
expect "a plot that cannot be written is reported" 2 "cannot be written" howmany plan $fig2 --plot "$work/nowhere/p.svg"
expect "version reports a full disk" 2 "cannot write" sh -c "howmany version >/dev/full"
expect "help reports a full disk" 2 "cannot write" sh -c "howmany help >/dev/full"
expect "an unknown short option is refused" 2 "there is no option '-x'" howmany plan -xj $fig2
echo "hello world" >"$work/text.yaml"
expect "a YAML file with a plain text is refused" 2 "neither keys and values nor a name" howmany plan "$work/text.yaml" --set compute=10/n --set communicate=none
json "with --alpha the goal is balance" '.goal == "balance" and .alpha == 1 and .beta > 0' howmany plan examples/gpt2.yaml --alpha 1 --json
expect "missing memory is reported with the size needed" 1 "a worker there needs" howmany plan examples/gpt2.yaml --set cluster.memory='1 GB'
expect "a reference that does not fit is noted" 0 "the reference itself does not fit" howmany plan examples/gpt2.yaml --set micro_batch=64
expect "gradients are accumulated to fit in memory" 0 "in micro-batches of 22: 3 forward passes an iteration" howmany plan examples/gpt2.yaml --n 8
json "--n restricts the numbers of workers" '[.curve[].n] == [8,16,32]' howmany plan examples/gpt2.yaml --n 32,8,16 --json
json "--slack 0 recommends the optimum" '.recommended.n == .best.n and .slack == 0' howmany plan examples/fig1.yaml --slack 0 --json
json "prices give three alternatives" '.alternatives.cheapest.cost <= .alternatives.balanced.cost and .alternatives.fastest.n == .recommended.n' howmany plan examples/gpt2.yaml --json
check "a key that is set for job and machine is not called replaced" sh -c "howmany plan resnet-50 --epochs 1 --on p4d.24xlarge --set cluster.max_nodes=4 | tee /dev/stderr | grep -q '^Use' && ! howmany plan resnet-50 --epochs 1 --on p4d.24xlarge --set cluster.max_nodes=4 | grep -q 'replaced by'"
expect "--on keeps the job's keys" 0 "kept from the job: max_nodes; replaced by the machine's own: price" howmany plan examples/resnet50.yaml --on p4d.24xlarge
expect "the part that does not shrink is named" 0 "a part of the computing takes 10 s, which does not shrink" howmany plan - <<<$'compute: 100/n + 10\ncommunicate: none'
check "a table of runs in place of the job gives the times" sh -c "[ \"\$(howmany plan examples/runs.csv --json | jq -c '[.provenance, .best.n]')\" = \"\$(howmany plan --runs examples/runs.csv --json | jq -c '[.provenance, .best.n]')\" ]"
json "alternatives are over all machines" '[.alternatives[].machine] | index("g5.xlarge") != null and index("p5.48xlarge") != null' \
  howmany plan examples/resnet50.yaml --on g5.xlarge,p5.48xlarge --set cluster.max_nodes=4 --json
json "llama-7b and bf16 are understood" '.transformer == "llama-7b" and .status == "ok"' \
  sh -c "printf 'network: llama-7b\nprecision: bf16\nsequence: 2048\nbatch: 4M tokens\ntokens: 1T\ncluster: p5.48xlarge\n' | howmany plan - --n 64 --json"
expect "a name of an accelerator is found in any case" 0 "x h100" howmany plan examples/resnet50.yaml --on h100 --fabric 100gbe
expect "of an unknown network the totals can be given" 2 "give the totals: {parameters: 7e9, forward: 14 Tflop}" howmany plan examples/resnet50.yaml --set network=qzx
expect "names that contain the unknown one are listed" 2 "names that contain it: gpu_1x_gh200" howmany plan examples/resnet50.yaml --on 1x_gh2
sed 's/n: 15/n: 150/' examples/fig1.yaml >"$work/off.yaml"
expect "an expected figure outside the curve is refused" 2 "n = 150 is not among the workers considered" howmany validate "$work/off.yaml"
printf 'compute: 1/n\ncommunicate: none\nexpect: [{what: mape, value: 3}]\n' >"$work/mape.yaml"
expect "an expected MAPE without measurements is refused" 2 "needs measured speedups" howmany validate "$work/mape.yaml"

# catalog
check "the catalog has at least 40 machines" sh -c '[ $(howmany catalog list machines --names | wc -l) -ge 40 ]'
expect "catalog show prints a machine" 0 "price an hour" howmany catalog show p4d.24xlarge
expect "catalog show prints the layers of a network" 0 "23834568" howmany catalog show inception-v3
expect "catalog show prints a fabric" 0 "10.0 Gbit/s" howmany catalog show 10gbe
expect "an unknown entry gets a suggestion" 2 "did you mean p4d.24xlarge?" howmany catalog show p4d.24xlrge
json "networks have the names that people use" '.parameters == 124439808' howmany catalog show gpt2 --json
expect "an unknown name is compared with names of all kinds" 2 "did you mean efficientnet-b0" howmany catalog show efficientnet-b9
expect "an unknown action of catalog is refused" 2 "is not list, show or import" howmany catalog delete
expect "an unknown kind of entry is refused" 2 "is not machines" howmany catalog list cars
json "catalog list --json has all kinds" '(.machines|length) >= 40 and (.fabrics|length) >= 10 and (.networks|length) >= 10 and
  (.machines|map(select(.source == null or .date == null))|length) == 0 and
  (.machines[] | select(.name == "p4d.24xlarge").accelerators) == 8' howmany catalog list --json
json "unknown prices are null" '[.machines[] | select(.price_per_h == 0)] == []' howmany catalog list machines --json
ports() { howmany plan vgg-16 --on dgx-a100 --n 32 --set cluster.fabric="$1" --json | jq .best.time_s; }
check "ports multiply the bandwidth of one" test "$(ports '{bandwidth: 25 Gbit/s, ports: 8}')" = "$(ports '{bandwidth: 200 Gbit/s}')"
json "sizes of transformers are listed" '[.networks[] | select(.name == "mixtral-8x7b")][0] | .parameters == 46702792704 and .active_parameters == 12747800576' howmany catalog list networks --json
expect "a transformer is shown with its sizes" 0 "8030261248" howmany catalog show llama-3-8b
json "catalog show --json prints an entry" '.parameters == 25557032' howmany catalog show resnet-50 --json
printf 'InstanceType,Price,Region\nm5.4xlarge,0.5,here\nq.small,,here\n' >"$work/vms.csv"
expect "import adds machines to the user's catalog" 0 "2 machines" howmany catalog import "$work/vms.csv"
json "imported prices replace built-in ones" '.price_per_h == 0.5 and .flops_32 > 0' howmany catalog show m5.4xlarge --json
json "unknown values of an imported machine are null" '.price_per_h == null and .flops_32 == null' howmany catalog show q.small --json
expect "a machine without flops is refused" 2 "has no flops for 32 bit" howmany plan examples/resnet50.yaml --set precision=32 --on q.small --fabric 10gbe
expect "a second import reports that it replaces the first" 0 "(replaced): 1 with hardware" howmany catalog import "$work/vms.csv"
mkdir "$work/gcp" && cp "$work/vms.csv" "$work/gcp/vms.csv"
expect "price lists of one name are distinguished by their folder" 0 "/gcp.yaml" howmany catalog import "$work/gcp/vms.csv"
rm "$HOME/.local/share/howmany/catalog/gcp.yaml"
expect "import to standard output" 0 "q.small" howmany catalog import "$work/vms.csv" --output -
expect "import of an unknown region is refused" 2 "no machine in region 'there'" howmany catalog import "$work/vms.csv" --region there
rm -rf "$HOME/.local"
whole_catalog() { # a price list of all machines changes their prices and nothing else
  local same='.machines | sort_by(.name) | map(del(.price_per_h, .source, .date))'
  howmany catalog list machines --json | jq "$same" >"$work/before"
  { echo InstanceType,Price,Region && howmany catalog list machines --names | sed 's/$/,1,here/'; } >"$work/all.csv"
  howmany catalog import "$work/all.csv" && howmany catalog list machines --json | jq "$same" | diff "$work/before" - &&
    howmany catalog list machines --json | jq -e '[.machines[].price_per_h] | unique == [1]'
}
check "a price list of all machines keeps their hardware" whole_catalog
rm -rf "$HOME/.local"
if [ "$HM_ZLIB" = 1 ]; then
  gzip -c "$work/vms.csv" >"$work/vms.csv.gz"
  expect "import of a gzip file" 0 "q.small" howmany catalog import "$work/vms.csv.gz" --output -
  head -c 40 "$work/vms.csv.gz" >"$work/cut.csv.gz"
  expect "a truncated gzip file is reported" 2 "cut short" howmany catalog import "$work/cut.csv.gz" --output -
else
  gzip -c "$work/vms.csv" >"$work/vms.csv.gz"
  expect "without zlib a gzip file is refused" 2 "gzip files need zlib" howmany catalog import "$work/vms.csv.gz" --output -
fi
data=${HOWMANY_DATA:-../shared/data}
for list in aws-v7 azure-v8 lambda-v8; do
  file=$data/prices/skypilot-$list.csv.gz
  if [ -f "$file" ] && [ "$HM_ZLIB" = 1 ]; then
    check "import of the $list price list" sh -c "howmany catalog import $file --output $work/$list.yaml && [ \$(grep -c 'price:' $work/$list.yaml) -gt 10 ]"
  elif [ ! -f "$file" ]; then
    skip "import of the $list price list" "no $file (set HOWMANY_DATA)"
  fi
done
mkdir -p "$HOME/.local/share/howmany/catalog"
echo 'machines: {broken: {flops: fast}}' >"$HOME/.local/share/howmany/catalog/own.yaml"
expect "an invalid entry of the user's catalog is reported with its file" 2 "own.yaml" howmany plan $fig2 --on broken
rm -rf "$HOME/.local"

# graphs
printf 'graph: {generate: power-law, vertices: 2000, edges: 8000, max_degree: 900, split: random}\ncommunicate: none\ncluster: {flops: 1 Gflop/s, max_nodes: 16}\n' >"$work/bp.yaml"
printf '# a path\n1 2\n2 3\n3 4\n4 4\n2 1\n' >"$work/path.txt"
json "graph --json has the graph and its splits" '.vertices == 4 and .edges == 3 and .self_loops == 1 and .repeated == 1 and
  .splits[0].split == "dealt" and .splits[0].parts[0].n == 2 and .splits[0].parts[0].edges_max == 2' howmany graph "$work/path.txt" --parts 2 --json
json "--split all has every split" '[.splits[].split] | index("hdrf") != null' howmany graph --generate power-law --vertices 500 --edges 2000 --max-degree 90 --parts 2,4 --split all --json
json "the same seed gives the same graph" '.edges == 2000' howmany graph --generate random --vertices 500 --edges 2000 --seed 3 --parts 2 --json
expect "graph prints a table" 0 "imbalance" howmany graph "$work/path.txt" --parts 2..3
check "graph --plot writes a picture" sh -c "howmany graph --generate grid --vertices 100 --parts 2..8 --split dealt,greedy --plot $work/g.svg && grep -q '<svg' $work/g.svg"
printf '1 2\n2 13' >"$work/cut.txt"
expect "an edge list without a last line break may be cut" 0 "if it was cut, the last value of its last line is wrong" howmany graph "$work/cut.txt" --parts 2
json "and --json says so" '.may_be_cut' howmany graph "$work/cut.txt" --parts 2 --json
printf 'graph: {file: %s, split: random}\ncommunicate: none\ncluster: {flops: 1 Gflop/s, max_nodes: 2}\n' "$work/cut.txt" >"$work/cut.yaml"
json "and a plan of a job with it" '[.notes[] | select(test("cut.txt does not end in a newline"))] | length == 1' howmany plan "$work/cut.yaml" --json
expect "more parts than vertices are refused" 2 "5 parts, but only 4 vertices" howmany graph "$work/path.txt" --parts 5
expect "an unknown split gets a suggestion" 2 "did you mean greedy?" howmany graph "$work/path.txt" --split gredy
expect "a falling range is refused" 2 "is not a range" howmany graph "$work/path.txt" --parts 9..3
expect "a text instead of a range is refused" 2 "is not a list of numbers" howmany graph "$work/path.txt" --parts few
expect "a missing graph is refused" 2 "either a graph or a kind to generate is needed" howmany graph
expect "--generate without --vertices is refused" 2 "--vertices: a generated graph needs vertices" howmany graph --generate random
expect "--vertices with a file is refused" 2 "--vertices: this needs generate" howmany graph "$work/path.txt" --vertices 5
expect "weak scaling of a graph job is refused" 2 "the graph stays the same" howmany plan "$work/bp.yaml" --weak
json "without --parts a small graph has a short list of parts" '(.splits[0].parts | length) == 3' howmany graph "$work/path.txt" --json
check "METIS prints nothing" sh -c "howmany graph --generate power-law --vertices 600 --edges 1000 --max-degree 300 --split all --parts 2..60 --json | jq . >/dev/null"
expect "a split of degrees without edges is refused" 2 "needs the edges" howmany graph "$work/path.txt" --degrees-only --split hash --parts 2
echo "1 2 3" >"$work/three.txt"
expect "three ids in a line are refused" 2 "three.txt:1: too many numbers" howmany graph "$work/three.txt"
printf '1 1\n2 1\n' >"$work/odd.degrees"
expect "degrees with an odd sum are refused" 2 "odd number" howmany graph "$work/odd.degrees"
: >"$work/empty.txt"
expect "an empty graph is refused" 2 "has no edge" howmany graph "$work/empty.txt"
if [ "$HM_ZLIB" = 1 ]; then
  seq 1 20000 | awk '{print $1, $1 + 1}' | gzip >"$work/chain.txt.gz"
  json "a gzip graph is read" '.edges == 20000' howmany graph "$work/chain.txt.gz" --parts 2 --json
  head -c 20000 "$work/chain.txt.gz" >"$work/cut.txt.gz"
  expect "a truncated gzip graph is reported" 2 "cut short" howmany graph "$work/cut.txt.gz"
fi
expect "a job on a graph" 0 "limited by   imbalance" howmany plan "$work/bp.yaml"
json "a better split is worth" '[.help[].what] | index("an even split") != null' howmany plan "$work/bp.yaml" --json
snap=$data/graph/snap/email-Enron.txt.gz
if [ -f "$snap" ] && [ "$HM_ZLIB" = 1 ]; then
  json "email-Enron: both directions are one edge" '.vertices == 36692 and .edges == 183831 and .repeated == 183831' howmany graph "$snap" --parts 2 --json
  json "soc-Slashdot: self-loops are left out" '.vertices == 82168 and .lines == 948464 and .self_loops == 78303' howmany graph "$data/graph/snap/soc-Slashdot0902.txt.gz" --parts 2 --json
else
  skip "graphs of SNAP" "no $snap, or no zlib"
fi
if [ -f "$data/graph/ulanov/synthetic_10M.degree_dist" ]; then
  json "Fig. 4 and its smaller graphs" '.differ == 0 and .count == 95 and
    ([.checks[] | select(.case == "fig4-bp-16m" and .what == "mape").value * 1e4 | round] == [253706])' howmany validate --data "$data" --json
else
  skip "Fig. 4 and its smaller graphs" "no $data/graph/ulanov (set HOWMANY_DATA)"
fi
expect "without its data a case is skipped, and this is reported" 0 "fig4-bp-16m.yaml is skipped" howmany validate

# validate
expect "validate agrees" 0 "88 figures, 0 differ" howmany validate
json "validate as json" '.differ == 0 and .count == 88 and (.checks[] | select(.case == "fig2-spark-ann" and .what == "mape").value * 1e4 | round) == 136808' howmany validate --json
json "validate --steps predicts measured steps" '(.rows | length) > 350 and ([.medians[] | select(.by == "kind" and .name != "platform") | .median_error < 0.15] | all) and
  ([.rows[] | .low_s <= .predicted_s and .predicted_s <= .high_s] | all)' howmany validate --steps --json
json "intervals of plans without runs are those of the tables" '(.intervals | length) == 12 and
  ([.intervals[] | (.mean - .used_mean | fabs) < 1e-4 and (.spread - .used_spread | fabs) < 1e-4] | all)' howmany validate --steps --json
json "they hold for accelerators whose source is left out" '[.intervals[] | select(.kind | IN("device", "node", "nodes"))] |
  length == 3 and ((map(.inside) | add) / (map(.judged) | add) | . > 0.85 and . < 0.95)' howmany validate --steps --json
json "one measured step corrects the rest" '.one_step[] | select(.source == "all") | .rows > 100 and .median_error < 0.05 and
  .median_error < .median_error_before / 3 and .width < .width_before and .covered > 0.88' howmany validate --steps --json
expect "validate --steps and --fits" 2 "at most one table" howmany validate --steps --fits
expect "validate --steps with a table that is none" 2 "source" howmany validate --steps $fig2
sed 's/4.13950/4.23950/' $fig2 >"$work/wrong.yaml"
expect "validate finds a wrong figure" 1 "DIFFERS" howmany validate "$work/wrong.yaml"

# help, man pages, completion
for command in plan graph catalog validate; do
  expect "help $command" 0 "usage: howmany $command" howmany help $command
  expect "$command --help" 0 "usage: howmany $command" howmany $command --help
  if command -v scdoc >/dev/null; then
    check "man page of $command" sh -c "howmany man $command | scdoc | grep -q '^.TH \"howmany-$command\"'"
  fi
done
expect "version" 0 "howmany 0." howmany --version
howmany completion bash >"$work/c.bash" && check "bash completion" bash -c "
  source $work/c.bash; COMP_WORDS=(howmany plan --dead); COMP_CWORD=2; _howmany
  [ \"\${COMPREPLY[*]}\" = --deadline ]"
check "bash completes machines" bash -c "
  source $work/c.bash; COMP_WORDS=(howmany plan --on p4d.); COMP_CWORD=3; _howmany
  [ \"\${COMPREPLY[*]}\" = p4d.24xlarge ]"
howmany completion zsh >"$work/_howmany"
check "zsh completion" zsh -n "$work/_howmany"
howmany completion fish >"$work/c.fish"
check "fish completion" fish -n "$work/c.fish"
expect "completion without a shell is refused" 2 "bash, zsh or fish" howmany completion

# ---- hardening
if [ "$HM_SANITIZE" = none ] && command -v readelf >/dev/null; then
  readelf -Wh "$HM_PROGRAM" >"$work/elf"
  readelf -Wld "$HM_PROGRAM" >>"$work/elf"
  readelf -Ws "$HM_PROGRAM" >>"$work/elf"
  check "the program is position-independent" grep -q 'Type:.*DYN' "$work/elf"
  check "its tables of addresses are read-only" grep -q GNU_RELRO "$work/elf"
  check "all symbols are bound at the start" grep -q 'BIND_NOW\|Flags:.* NOW' "$work/elf"
  check "stacks have canaries" grep -q __stack_chk_fail "$work/elf"
  case $HM_OPTIMIZATION in
  0 | plain) skip "string functions are checked" "the C library has them only in builds with optimisation" ;;
  *) check "string functions are checked" grep -q '__[a-z]*printf_chk' "$work/elf" ;;
  esac
  check "the stack is not executable" sh -c "grep GNU_STACK '$work/elf' | grep -qv RWE"
fi

for command in "bench true --n 1" train compare "study examples/study.yaml" steer "lab up -n 2"; do
  expect "howmany ${command%% *} --dry-run has no JSON" 2 "${command%% *}: --dry-run prints commands, not JSON" howmany $command --dry-run --json
done

# ---- files beside the output
awk 'BEGIN {print "m,iteration,seconds,loss"; for (m = 1; m <= 4; m *= 2) for (i = 1; i <= 20; i++) printf "%d,%d,%g,%g\n", m, i, i / m, exp(-i / (4 + m)) + 0.01}' >"$work/traces.csv"
echo precious >"$work/victim"
ln -s "$work/victim" "$work/saved.json.part"
expect "a link beside the output is not followed" 0 "" howmany converge "$work/traces.csv" --save "$work/saved.json"
check "the target of the link is unchanged" grep -qx precious "$work/victim"
check "the output is complete" grep -q convergence "$work/saved.json"
check "the file beside the output stays" test -L "$work/saved.json.part"
chmod 600 "$work/saved.json"
check "permissions of the output stay" sh -c "howmany converge '$work/traces.csv' --save '$work/saved.json' >/dev/null && test \$(stat -c %a '$work/saved.json') = 600"
check "a new output has the permissions of the umask" sh -c "umask 027; howmany converge '$work/traces.csv' --save '$work/new.json' >/dev/null && test \$(stat -c %a '$work/new.json') = 640"
ln -s saved.json "$work/link.json"
check "an output through a link replaces its target" sh -c "howmany converge '$work/traces.csv' --save '$work/link.json' >/dev/null && test -L '$work/link.json' && test ! -L '$work/saved.json'"
ln -s made.yaml "$work/dangling.yaml"
expect "an output through a link to no file" 0 "" howmany import examples/config-llama-3-8b.json -o "$work/dangling.yaml"
check "makes the file that the link names" test -L "$work/dangling.yaml" -a -s "$work/made.yaml"
ln -s cycle.yaml "$work/cycle.yaml"
expect "an output through links without end is an error" 2 "symbolic links" howmany import examples/config-llama-3-8b.json -o "$work/cycle.yaml"
expect "an output without a name is an error" 2 "name of an output file is empty" howmany import examples/config-llama-3-8b.json -o ""
echo earlier >"$work/log"
check "an output that is standard output is added to it" sh -c "howmany import examples/config-llama-3-8b.json -o /dev/stdout >>'$work/log' && grep -q earlier '$work/log' && grep -q parameters '$work/log' && grep -q 'kind: transformer' '$work/log'"
mkdir -m 777 "$work/protected"
echo precious >"$work/protected/out.yaml"
chmod 444 "$work/protected/out.yaml"
if [ "$(id -u)" = 0 ]; then
  chmod 755 "$work" && cp "$HM_PROGRAM" "$work/howmany" && chmod 755 "$work/howmany"
  as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$work/howmany" "$@"; }
else
  as_nobody() { howmany "$@"; }
fi
expect "an output that may not be written is not replaced" 2 "Permission denied" as_nobody import - --as hf-config -o "$work/protected/out.yaml" <examples/config-llama-3-8b.json
check "and keeps its contents" grep -qx precious "$work/protected/out.yaml"
writers() {
  local i pid
  for i in {1..20}; do
    howmany import examples/config-llama-3-8b.json -o "$work/both.yaml" >/dev/null &
    pid=$!
    howmany import examples/config-llama-3-8b.json -o "$work/both.yaml" >/dev/null && wait $pid && test -s "$work/both.yaml" || return 1
  done
  ! ls -A "$work" | grep '^[.]howmany-'
}
check "two writers of one output both succeed" writers
# ---- the largest file size
limited() { bash -c 'ulimit -f 1; exec "$@"' - "$@"; } # COMMAND…: its files have at most 1 KiB
howmany bench 'true {n}' --n 1,2 --repeat 4 --record "$work/limited.csv" >/dev/null 2>&1
rows=$(grep -c '^[0-9]' "$work/limited.csv")
expect "a record beyond the largest file size is an error" 2 "File too large" limited howmany bench 'true {n}' --n 1,2,4,8 --repeat 8 --record "$work/limited.csv"
check "which leaves whole rows" test "$(grep -c '^[0-9].*,whole run$' "$work/limited.csv")" -ge "$rows" -a "$(tail -c 10 "$work/limited.csv")" = "whole run"
expect "and so is a checkpoint" 2 "File too large" limited howmany train -n 1 -d dense:500x500 -i 3 --checkpoint "$work/limited.ck" --every 1
expect "a command that is measured gets the signal" 1 "signal 25" howmany bench --shell 'kill -XFSZ $$ # {n}' --n 1 --repeat 1
expect "a pattern that needs much memory is refused" 2 "10000" howmany bench 'true {n}' --n 1 --iteration-regex '((a{200}){200}){200}(b)'

# ---- budgets
long=(howmany graph --generate random --vertices 1000 --edges 5000 --split random --trials 1000000)
expect "a time limit ends a request and names the option" 2 "--trials: the request was ended at its time limit of 0.3 s" "${long[@]}" --trials 2000 --time-limit 0.3s
expect "a request that takes far longer than the time limit is refused" 2 "--trials: the request needs about 1.9e+11 assignments of vertices and edges (31 numbers of workers x 1e+06 trials x 6000 vertices and edges), at least 1.5e+03 s; its time limit is 0.3 s" "${long[@]}" --time-limit 0.3s
expect "a time limit must be a time" 2 "--time-limit" "${long[@]}" --time-limit 3kg
expect "a time limit that is not reached changes nothing" 0 "Use 9 workers" howmany plan examples/fig1.yaml --time-limit 10min
mkfifo "$work/nobody"
expect "a time limit ends the wait for a job from a pipe" 2 "time limit of 0.3 s" timeout -k 1 20 howmany plan "$work/nobody" --time-limit 0.3s
expect "and for a job on standard input" 2 "time limit of 0.3 s" timeout -k 1 20 howmany plan - --time-limit 0.3s <> "$work/nobody"
expect "Ctrl-C ends the wait, too" 130 "interrupted" timeout --preserve-status -s INT -k 20 0.5 howmany plan "$work/nobody"
{ echo "not a job" && cat examples/fig1.yaml; } >"$work/second.yaml"
expect "standard input is read from its position" 0 "Use 9 workers" sh -c "{ read line && howmany plan -; } <'$work/second.yaml'"
expect "Ctrl-C ends a request" 130 "interrupted" timeout --preserve-status -s INT -k 20 1 "${long[@]}"
finish
