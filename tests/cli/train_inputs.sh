#!/usr/bin/env bash
# Tests invalid input of howmany train: exit code 2 with a message that names file and line, before any rank starts,
# and no output.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=detect_leaks=0
cd "$work" || exit 1

refused() { # NAME MESSAGE OPTIONS…
  local name=$1 message=$2
  shift 2
  run timeout 60 howmany train -i 1 "$@"
  if [ "$code" -eq 2 ] && [ -z "$out" ] && grep -qF -- "$message" "$work/err" && [ "$(grep -c '^howmany: ' "$work/err")" -eq 1 ]; then
    say 0 "$name"
  else
    echo "# exit $code, looking for: $message"
    sed 's/^/# /' "$work/out" "$work/err" | head -n 10
    say 1 "$name"
  fi
}
idx() { # NAME HEX…
  local name=$1
  shift
  printf "$(printf '%s' "$*" | sed 's/[0-9a-f][0-9a-f]/\\x&/g; s/ //g')" >"$name"
}

noted() { # FILE: says that the file may be cut
  run timeout 60 howmany train -n 1 -i 1 -d "$1"
  [ "$code" -eq 0 ] && grep -q "^howmany: $1 does not end in a newline" "$work/err"
}
printf '+1 1:1\n-1 1:25' >cut.svm
printf 'label,x\n1,2\n-1,3' >cut.csv
printf '+1 1:1\n-1 1:25\n' >whole.svm
gzip -k cut.csv
check "a LIBSVM file that may be cut is noted" noted cut.svm
check "and so is a CSV file" noted cut.csv
check "a complete one is not" sh -c "! { howmany train -n 1 -i 1 -d whole.svm 2>&1 >/dev/null | grep newline; }"
check "and a compressed one is not, because it would be damaged" sh -c "! { howmany train -n 1 -i 1 -d cut.csv.gz 2>&1 >/dev/null | grep newline; }"
printf '+1 1:1 2:1\n-1 3:1 2:5\n' >order.svm
refused "a feature index out of order" "order.svm:2: " -d order.svm
printf '+1 1:1\nmaybe 3:1\n' >label.svm
refused "an invalid label" "label.svm:2: " -d label.svm
printf '+1 1:1\n-1 0:1\n' >zero.svm
refused "an index of 0" "zero.svm:2: " -d zero.svm
printf '+1 1:1\n-1 1:nan\n' >nan.svm
refused "a value that is not a number" "nan.svm:2: " -d nan.svm
printf '+1 1:1\n-1 1:\n' >empty.svm
refused "an entry without a value" "empty.svm:2: " -d empty.svm
: >none.svm
refused "a file without rows" "none.svm" -d none.svm
printf 'a,label\n1,1\nNaN,2\n' >nan.csv
refused "NaN in a CSV" "nan.csv:3: " -d nan.csv
printf 'a,label\n1,1\n2\n' >short.csv
refused "a CSV row too short" "short.csv:3: " -d short.csv
printf 'a,label\n1,1\nx,2\n' >word.csv
refused "a word in a CSV" "word.csv:3: " -d word.csv
refused "no such column" "word.csv" -d word.csv --label-column nothing
refused "no such file" "nowhere.svm" -d nowhere.svm
refused "no such folder of images" "folder" -d ./folder/
mkdir folder
refused "a folder without images" "folder" -d ./folder
idx images 00000803 00000002 00000001 00000002 01 02 03 04
idx labels 00000801 00000003 01 02 01
refused "images and labels of different counts" "images" -d images --labels labels
idx labels 00000801 00000002 01
refused "labels cut short" "labels" -d images --labels labels
idx images 00000803 00000002 00000001 00000002 01 02 03
idx labels 00000801 00000002 01 02
refused "images cut short" "images" -d images --labels labels
idx images 00000d03 00000002 00000001 00000002 01 02 03 04
refused "images of floats" "images" -d images --labels labels
idx images 00000803 00000002 00000001 00000002 01 02 03 04
refused "labels that are images" "images" -d images --labels images
if [ "$HM_ZLIB" = 1 ]; then
  seq 20000 | sed 's/.*/+1 1:&/' | gzip >whole.svm.gz
  head -c 20000 whole.svm.gz >cut.svm.gz
  refused "a gz cut short" "cut.svm.gz" -d cut.svm.gz
fi
printf '1 1:1\n2 1:2\n3 1:3\n1 1:1\n' >three.svm
refused "a third label for two classes" "three.svm:3: 3 is a third label" -d three.svm
refused "a positive label that is not there" "no row has the label 9" -d three.svm --positive 9
printf '1 1:1\n1 1:2\n' >one.svm
changed() { # MESSAGE SHAPE PROBLEM: the data differ from the scan
  ! howmany-train --scanned="$2" --data=three.svm --problem="$3" --positive=1 --iterations=1 >out 2>&1 || return 1
  grep -F "three.svm: the data has $1 than when it was checked" out
}
check "more rows than were checked" changed "more rows" 3,1,4,1,1,1,2,3 svm
check "fewer rows than were checked" changed "fewer rows" 5,1,4,1,1,1,2,3 svm
printf '1 1:1\n2 1:2\n3 1:3\n' >changed.svm
check "other classes than were checked" bash -c '! howmany-train --scanned=3,1,3,1,1,1,2 --data=changed.svm --problem=softmax --iterations=1 2>&1 | tee out | grep -q iteration && grep -F "changed.svm: the data has other labels" out'
refused "one label only" "at least two labels are needed" -d one.svm
refused "one class only" "at least two labels are needed" -d one.svm -p softmax
refused "positive of all classes" "learns all classes" -d three.svm -p softmax --positive 1
printf '1 1:1 2:1 9:1\n' >wide.svm
refused "test rows with more features" "wide.svm" -d three.svm --positive 1 --test wide.svm
printf '1 1:1 2000000000:1\n2 1:1\n' >huge.svm
refused "not enough memory for dense rows" "of memory" -d huge.svm --keep dense
refused "and not for w on many ranks" "of memory" -d huge.svm -n 100
refused "a checkpoint in a missing folder, before any iteration" "--checkpoint: no/ck cannot be written" --checkpoint no/ck
refused "a checkpoint without a name" "not the name of a file" --checkpoint ""
refused "beliefs in a missing folder" "--beliefs: no/b.csv cannot be written" -p bp --beliefs no/b.csv
printf '0 1\n1 2' >cut.txt
check "a graph that may be cut is noted" bash -c 'howmany train -p bp -d cut.txt -i 1 2>&1 >/dev/null | grep -F "cut.txt does not end in a newline"'
printf '0 1\n1 2\n' >edges.txt
check "a whole graph is not noted" bash -c '! howmany train -p bp -d edges.txt -i 1 2>&1 >/dev/null | grep .'
refused "beliefs over the data" "edges.txt is the data" -p bp -d edges.txt --beliefs ./edges.txt
refused "beliefs over the checkpoint" "--checkpoint and --beliefs name the same file" -p bp --checkpoint same --beliefs ./same
refused "a record over the beliefs" "--beliefs and --record name the same file" -p bp --beliefs same.csv --record "$PWD/same.csv"
refused "an invalid recipe" "dense:10" -d dense:10x
refused "a recipe with 0 rows" "dense:0x5" -d dense:0x5

refused "no such problem" "did you mean svm?" -p svn
refused "no such algorithm" "did you mean lbfgs?" -a lbgfs
refused "no such scheme" "there is no 'star'" --scheme star
refused "no such scaling" "there is no 'twice'" --scale twice
refused "a division by nothing" "not more than 0" --scale divide:0
refused "an algorithm for other problems" "not for softmax" -p softmax -a cocoa
refused "a dual without a regulariser" "must be above 0" --lambda 0
refused "a negative lambda" "less than 0" --lambda -1
refused "a gap without a dual" "duality gap" -a gd --gap 1e-3
refused "suboptimality without --best" "--best" --suboptimality 1e-3
refused "no ranks" "not a whole number from 1" -n 0
refused "half a rank" "not a whole number" -n 1.5
refused "more than a seed can be" "is more than 1e+15" --seed 18446744073709551615
refused "no iterations" "not a whole number from 1" -i 0
refused "half a batch" "not a whole number from 1" -a sgd -b 0.5
refused "a momentum of 1" "less than 1" -a momentum --momentum 1
refused "no layers" "--hidden" -p perceptron --hidden 0
refused "too many layers" "at most 8" -p perceptron --hidden 1,2,3,4,5,6,7,8,9
refused "no such activation" "there is no 'tanh'" -p perceptron --activation tanh
refused "an operand" "give the data with --data" digits
refused "no such option" "did you mean --passes?" --pases 2
refused "--set without --simulate" "--set: it applies only with --simulate" --set cluster.fabric.latency=1ms
refused "belief propagation with another algorithm" "no other algorithm than bp" -p bp -a cocoa
unused() { # OPTION VALUE APPLIES-TO OPTIONS…
  local option=$1 value=$2 applies=$3
  shift 3
  refused "$option has no effect: $*" "$option: applies only to $applies" "$@" $option $value
}
unused --batch 5 "sgd, momentum" -a cocoa
unused --batch 5 "sgd, momentum" -a local-sgd
unused --passes 5 "local-sgd, splash" -a sgd
unused --momentum 0.5 "momentum and adam" -a sgd
unused --memory 5 "lbfgs; this run uses gd" -a gd
unused --step 5 "gd, sgd" -a lbfgs
unused --shrink "" "cocoa and cocoa+" -a mini-sdca
unused --hidden 5 "--problem perceptron" -p softmax
unused --activation relu "--problem perceptron" -p svm
unused --beliefs b.csv "belief propagation" -p svm
unused --damping 0.5 "belief propagation" -p squares
unused --test dense:5x5 "problems with rows" -p bp
unused --lambda 5 "problems with rows" -p bp
unused --batch 5 "sgd, momentum" -p bp
unused --labels some "IDX images" -d dense:50x3
unused --label-column some "CSV files" -d three.svm --positive 1
unused --order as-is "rows from files" -d dense:50x3
unused --data-seed 3 "generated or sampled rows" -d three.svm --positive 1
unused --sample 0.5 "rows from files" -d dense:50x3
unused --sample 0.5 "rows from files" -p bp
refused "a sample of nothing" "--sample: '0' is not above 0 and at most 1" -d three.svm --positive 1 --sample 0
refused "a sample of more than all" "--sample: '1.5' is not above 0 and at most 1" -d three.svm --positive 1 --sample 1.5
refused "a sample without rows" "no row of 4 is in a sample of 1e-09" -d three.svm --positive 1 --sample 1e-9
refused "a precision without --simulate" "--precision: it applies only with --simulate" --precision 32
refused "no such field" "grid:ROWSxCOLUMNS" -p bp -d grid:3
refused "one state" "from 2 on" -p bp --states 1
printf 'MARKOV\n1\n2\n1\n1 0\n\n2\n 1\n' >short.uai
refused "a UAI file cut short" "short.uai" -p bp -d short.uai
printf 'BAYES\n1\n2\n' >bayes.uai
refused "a UAI file of another kind" "bayes.uai:1: " -p bp -d bayes.uai
sampled() { # the sample depends on --data-seed and not on --seed; a smaller one is part of a larger one
  for i in $(seq 400); do echo "$((i % 2)) 1:$i"; done >many.svm
  rows() { howmany train -a gd -d many.svm --positive 1 -i 1 "$@" | jq -r 'select(.run) | .rows'; }
  local half small
  half=$(rows --sample 50%) && small=$(rows --sample 0.1)
  test "$half" -gt 150 && test "$half" -lt 250 && test "$small" -gt 15 && test "$small" -lt 70 &&
    test "$(rows --sample 0.5 --seed 9)" = "$half" && test "$(rows --sample 0.5 --data-seed 9)" != "$half" &&
    test "$(rows --sample 1)" = 400 &&
    test "$(howmany train -a gd -d many.svm --positive 1 -i 1 --sample 0.5 | jq -r 'select(.run) | .sample')" = 0.5
}
check "--sample takes a share of the rows" sampled
expect "a valid run" 0 '"iterations":1' howmany train -i 1 -d three.svm --positive 3
finish
