#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run_fuzz.sh SECONDS: runs every target of build/fuzz/fuzz for that long, from the seeds in
# fuzz/corpus/TARGET. New inputs are kept in build/fuzz/corpus; an input that fails stays in
# build/fuzz/failures. Thirty seconds for one input: a thousand layers take a few under sanitizers on
# a busy machine; what hangs takes longer.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=$1
shopt -s nullglob
targets=(build/fuzz/fuzz/*_fuzz)
if [ ${#targets[@]} -eq 0 ]; then
  echo "run_fuzz.sh: no targets; fuzz/*_fuzz.cc are built by make fuzz" >&2
  exit 1
fi
mkdir -p build/fuzz/failures
for target in "${targets[@]}"; do
  name=$(basename "$target")
  corpora=("build/fuzz/corpus/$name")
  mkdir -p "${corpora[0]}"
  [ -d "fuzz/corpus/$name" ] && corpora+=("fuzz/corpus/$name")
  echo "== $name: $seconds s"
  "$target" -max_total_time="$seconds" -timeout=30 -rss_limit_mb=2048 -print_final_stats=1 \
    -verbosity=0 -artifact_prefix="build/fuzz/failures/$name-" "${corpora[@]}"
done
