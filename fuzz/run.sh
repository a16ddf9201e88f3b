#!/usr/bin/env bash
# Fuzz for some minutes, the model reader and the tensor reader in turn; what is found is kept in fuzz/findings.
#
#   fuzz/run.sh MINUTES [model|tensor]
#
# The source is copied without its compiled module, so that coverage guides the fuzzer through the codec too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
minutes=${1:?how many minutes?}
targets=${2:-"model tensor"}
set -- $targets
seconds=$((minutes * 60 / $#))

rm -rf build
mkdir -p build findings
cp -r ../src/sardonyx build/sardonyx
find build -name '*.so' -delete
export PYTHONPATH="$PWD/build"

status=0
for target in $targets; do
  mkdir -p "corpus/$target"
  .venv/bin/python seeds.py "$target" "corpus/$target"
  echo "== $target, $seconds seconds"
  .venv/bin/python "fuzz_$target.py" "corpus/$target" -max_total_time="$seconds" -max_len=4096 -timeout=20 \
    -rss_limit_mb=2048 -artifact_prefix="findings/$target-" -print_final_stats=1 || status=$?
done
exit $status
