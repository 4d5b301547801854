#!/usr/bin/env bash
# Tests every plot of --plot: it must use the palette, nothing may be cut at the edge, and texts must not overlap (tests/plots.py).
. "$(dirname "$0")/lib.sh"
if ! command -v gnuplot >/dev/null || ! command -v python3 >/dev/null; then
  skip "pictures" "no gnuplot or python3"
  finish
fi
picture() { # NAME COMMAND…: the command draws a picture in one style
  local name=$1 file=$work/$1.svg
  shift
  check "$name" bash -c '"$@" --plot "'"$file"'" >/dev/null && tests/plots.py "'"$file"'"' bash "$@"
}
picture plan-of-a-decade howmany plan resnet-50 --epochs 90 --on p4d.24xlarge
picture plan-of-layouts howmany plan llama-3-8b --tokens 1T --on p5.48xlarge,p4d.24xlarge
picture plan-with-runs howmany plan examples/fig2-spark-ann.yaml
picture plan-of-few-workers howmany plan examples/fig2-spark-ann.yaml --max-n 8
picture advise howmany advise examples/mnist-traces.csv.gz --loss 1e-4
picture converge howmany converge examples/mnist-traces.csv.gz
picture recommend howmany recommend examples/anwar.csv --batch 64000 --latency 20ms
picture fit howmany fit examples/runs.csv --target 64
picture design howmany design examples/resnet50.yaml --n 1..16 --budget 10min
picture design-with-sizes howmany design --n 1,2,4,8 --size 0.1,0.5,1 --budget 2
picture graph howmany graph --generate grid --vertices 1000 --parts 2..64 --split dealt,greedy
picture calibrate howmany calibrate --replay examples/h200-timings.json -o "$work/machine.yaml"
picture calibrate-links howmany calibrate --from examples/nccl-tests.txt -o "$work/node.yaml"
if [ -n "${HM_SMPIMAIN:-}" ]; then
  picture compare howmany compare --tasks softmax --rows 100 -b 20 -n 1,2 -i 4
else
  skip "compare" "built without SimGrid, or with sanitizers"
fi
check "the axis of workers ends with the largest number" grep -qE '> ?13<' "$work/plan-with-runs.svg"
picture plan-with-slack howmany plan examples/fig1.yaml
check "a plan marks the number of workers that its text recommends" bash -c "grep -q 'recommended, 9: 3.71x' '$work/plan-with-slack.svg' && grep -q 'best, 14: 3.82x' '$work/plan-with-slack.svg' && grep -q 'use 9 workers: 2.70 s' '$work/plan-with-slack.svg'"
check "a fit over a decade shows the ideal line and the prediction" bash -c "grep -q '>ideal<' '$work/fit.svg' && grep -q '64 workers: 23.0 s' '$work/fit.svg'"
check "numbers of workers whose runs failed are shown" grep -q '>failed<' "$work/recommend.svg"
check "calibrate shows each precision and the model" bash -c "for word in fp8 tf32 'predicted seconds' convolutions 'NVIDIA H200'; do grep -q \"\$word\" '$work/calibrate.svg' || exit 1; done"
check "calibrate shows messages if nothing else was timed" grep -q 'all-reduces' "$work/calibrate-links.svg"
expect "calibrate refuses another kind of picture before it measures" 2 "must end in .svg, .png or .pdf" howmany calibrate --cpu --plot "$work/c.gif"
# The checks of the plots must find the defects that they are for.
fails() { ! tests/plots.py "$1"; }
sed 's/rgb(  0, 114, 178)/rgb(  1, 114, 178)/' "$work/plan-with-runs.svg" >"$work/colour.svg"
check "a colour outside the palette is found" fails "$work/colour.svg"
sed 's/>workers</>workers and a text that is much longer than the panel is wide, so that it covers the other one</' "$work/plan-with-runs.svg" >"$work/cover.svg"
check "a text on another is found" fails "$work/cover.svg"
finish
