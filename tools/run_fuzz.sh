#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run_fuzz.sh SECONDS [TARGET...]: runs every target of build/fuzz/fuzz, or those named, for that long,
# from the seeds in fuzz/corpus/TARGET, and prints a table. One input may take 5 s and 1 GB, sanitizers
# included; FUZZ_TIMEOUT gives a busy machine more seconds. New inputs are kept in build/fuzz/corpus; an
# input that fails stays in build/fuzz/failures, with the log of its target. Exit code 1 where one does.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=$1
shift
timeout=${FUZZ_TIMEOUT:-5}
# Of the 1 GB, what the address sanitizer keeps of freed memory is otherwise 256 MB, which no input asked for.
export ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=32}
shopt -s nullglob
targets=(build/fuzz/fuzz/*_fuzz)
[ $# -gt 0 ] && targets=("${@/#/build/fuzz/fuzz/}")
if [ ${#targets[@]} -eq 0 ]; then
  echo "run_fuzz.sh: no targets; fuzz/*_fuzz.cc are built by make fuzz" >&2
  exit 1
fi

# The last value that libFuzzer's statistics give for a word.
stat() { sed -nE "s/^stat::$1: +([0-9]+)$/\1/p" "$2" | tail -1; }

mkdir -p build/fuzz/failures
failed=0
printf '%-20s %8s %10s %8s %9s %9s  %s\n' target seconds inputs inputs/s 'slowest s' 'peak MB' result
for target in "${targets[@]}"; do
  name=$(basename "$target")
  log=build/fuzz/failures/$name.log
  corpora=("build/fuzz/corpus/$name")
  mkdir -p "${corpora[0]}"
  [ -d "fuzz/corpus/$name" ] && corpora+=("fuzz/corpus/$name")
  result=ok
  "$target" -max_total_time="$seconds" -timeout="$timeout" -rss_limit_mb=1024 -print_final_stats=1 \
    -verbosity=0 -artifact_prefix="build/fuzz/failures/$name-" "${corpora[@]}" >"$log" 2>&1 || result=FAILED
  printf '%-20s %8s %10s %8s %9s %9s  %s\n' "$name" "$seconds" "$(stat number_of_executed_units "$log")" \
    "$(stat average_exec_per_sec "$log")" "$(stat slowest_unit_time_sec "$log")" "$(stat peak_rss_mb "$log")" "$result"
  if [ "$result" != ok ]; then
    failed=1
    grep -E -m3 'ERROR|SUMMARY|Test unit written' "$log" || true
  fi
done
exit $failed
