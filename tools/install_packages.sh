#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# install_packages.sh SET...: installs the Debian packages of these sets (build, test, bench, lint, python)
# that are missing. Asks dpkg first, so it is quiet and needs no network where nothing is.
set -euo pipefail

missing=()
need() {
  local package
  for package in "$@"; do
    if ! dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null |
        grep --quiet 'ok installed'; then
      missing+=("$package")
    fi
  done
}

for set in "$@"; do
  case "$set" in
    build) need g++ cmake ninja-build nlohmann-json3-dev libcli11-dev libgtest-dev libsqlite3-dev zlib1g-dev libre2-dev libigraph-dev libxgboost-dev libsvm-dev libnlopt-cxx-dev \
        coinor-libclp-dev python3 ;;
    test) need libsimgrid-dev clang-format-14 ;;
    bench) need libbenchmark-dev valgrind ;;
    lint) need clang-14 libclang-rt-14-dev clang-tidy-14 clang-format-14 ;;
    python) need python3-dev python3-venv ;;
    *) echo "install_packages.sh: unknown set '$set'; the sets are build, test, bench, lint and python" >&2
       exit 2 ;;
  esac
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Packages are missing. As root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
if ! command -v apt-get >/dev/null; then
  echo "This is no Debian system; install by other means: ${missing[*]}" >&2
  exit 1
fi
echo "Installing ${missing[*]}"
"${as_root[@]}" apt-get update --quiet=2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install --quiet=2 --yes --no-install-recommends "${missing[@]}"
