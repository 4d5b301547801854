#!/usr/bin/env bash
# Compares the convergence on MNIST with known results: rounds of CoCoA and CoCoA+ on 1, 16 and 128 workers by an
# independent implementation, accuracies of softmax and a perceptron, certified optima.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=detect_leaks=0
data=$(realpath -m "${HOWMANY_DATA:-../shared/data}")
if [ ! -d "$data/mnist" ]; then
  skip "MNIST" "no $data/mnist; HOWMANY_DATA may name another folder"
  finish
fi
if [ "$HM_ZLIB" != 1 ]; then
  skip "MNIST" "built without zlib, and it is compressed"
  finish
fi
if [ -z "${HM_SMPIMAIN:-}" ]; then
  skip "MNIST" "these runs take too long with sanitizers, and need SimGrid"
  finish
fi
mnist="--data $data/mnist"
five="$mnist --positive 5 --lambda 1e-4"
summary() { jq -e "select(.summary) | $1"; }

# Rounds to an absolute suboptimality of 1e-4 on unit-norm rows, one local pass per round; within 30 %.
rounds() { # ALGORITHM M ROUNDS
  howmany train $five --scale unit --best 0.1054226612893 --suboptimality 1e-4 --iterations 500 -a "$1" -n "$2" \
    --simulate examples/cluster-study.yaml --scheme tree |
    summary ".stopped_by == \"suboptimality\" and .iterations >= 0.7 * $3 and .iterations <= 1.3 * $3, .iterations"
}
torture "CoCoA on 1 worker: about 5 rounds" rounds cocoa 1 5
check "CoCoA on 16: about 26" rounds cocoa 16 26
torture "CoCoA on 128: about 200" rounds cocoa 128 200
torture "CoCoA+ on 1: about 5" rounds cocoa+ 1 5
check "CoCoA+ on 16: about 14" rounds cocoa+ 16 14
torture "CoCoA+ on 128: about 90" rounds cocoa+ 128 90

certified() { # P* GAP OPTIONS…
  local best=$1 gap=$2
  shift 2
  howmany train -a cocoa --shrink --passes 50 --gap "$gap" --epochs 20000 "$@" |
    summary ".stopped_by == \"gap\" and .objective - $best > -1e-11 and .objective - .gap - $best < 1e-11"
}
torture "pixels / 255, lambda 1e-4: certified" certified 0.0698803240532 2e-6 $five --scale divide:255
torture "pixels / 255, lambda 1/60000: certified" certified 0.0658611355883 1e-5 $five --lambda 1.6666666666666667e-5 --scale divide:255
torture "unit-norm rows: certified" certified 0.1054226612893 2e-6 $five --scale unit
check "a9a: certified" certified 0.351761800467 2e-6 --data "$data/libsvm/a9a.gz"
torture "w8a: certified" certified 0.144325891647 2e-6 --data "$data/libsvm/w8a.gz"

accuracy() { # LEAST OPTIONS…
  local least=$1
  shift
  howmany train $mnist --test "$data/mnist" --scale divide:255 "$@" | summary ".accuracy > $least, .accuracy"
}
torture "softmax: over 92 % accuracy" accuracy 0.92 -p softmax -a lbfgs -i 60
torture "a 784-128-10 perceptron: over 97.5 % accuracy" accuracy 0.975 -p perceptron --hidden 128 --step 0.1 --epochs 8
torture "asynchronous softmax on a server, with stragglers: over 91 % accuracy" accuracy 0.91 -p softmax --step 0.2 --epochs 4 --look-every 1000 \
  -n 8 --platform server --consistency async --simulate examples/cluster-study.yaml --set 'stragglers={spread: 0.5, chance: 5 %, factor: 4}'
finish
