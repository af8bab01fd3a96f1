#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# python_tests.sh: installs the Python package with what its tests need into build/python/venv
# and runs python/tests. The package links the libraries of build/release, which must be built;
# `make wheel` compiles everything anew, as `pip install .` does for users. Without a package
# index the tests are skipped, which it says. Quick where nothing changed since they passed.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=build/python
venv=$folder/venv
passed=$folder/passed
packages=(torch==2.13.0 pytest numpy onnx onnxscript scikit-build-core pybind11 transformers accelerate lightning)

# Everything that a result depends on.
state() {
  find CMakeLists.txt pyproject.toml cmake data foretrain python tools/python_tests.sh \
    -type f -not -name '*_test.cc' -not -path '*/__pycache__/*' -print0 |
    sort -z | xargs -0 sha256sum | sha256sum
}

now=$(state)
if [ -f "$passed" ] && [ "$(cat "$passed")" = "$now" ] && [ -x "$venv/bin/python" ]; then
  echo "Python tests: passed before, nothing changed"
  exit 0
fi

if ! python3 -c 'import ensurepip, sysconfig, os; assert os.path.exists(
    os.path.join(sysconfig.get_paths()["include"], "Python.h"))' 2>/dev/null; then
  tools/install_packages.sh python
fi
mkdir -p "$folder"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
pip() { "$venv/bin/python" -m pip --quiet --disable-pip-version-check "$@"; }

if ! "$venv/bin/python" - "${packages[@]}" <<'CHECK' 2>/dev/null
import importlib.metadata, sys
for package in sys.argv[1:]:
    name, _, wanted = package.partition("==")
    assert importlib.metadata.version(name).startswith(wanted)
CHECK
then
  if ! pip --retries 0 --timeout 10 download --no-deps --dest "$folder/reached" pybind11 >/dev/null 2>&1; then
    echo "PyPI not reachable: Python tests skipped"
    exit 0
  fi
  echo "Installing ${packages[*]} into $venv"
  pip install "${packages[@]}"
fi

# Ray's tests are a part where it can be had; it is larger than all else, so it comes alone.
if ! "$venv/bin/python" -c 'import ray, grpc, pandas' 2>/dev/null; then
  echo "Installing Ray into $venv"
  pip install 'ray[train,client]' 2>/dev/null || echo "Ray cannot be installed: its tests are skipped"
fi

echo "Installing the Python package"
if ! pip install --no-build-isolation --no-deps --force-reinstall \
    --config-settings=build-dir="$folder/package" \
    --config-settings=cmake.source-dir=python \
    --config-settings=cmake.define.FORETRAIN_BUILD="$PWD/build/release" . \
    >"$folder/install.log" 2>&1; then
  tail -n 50 "$folder/install.log"
  exit 1
fi
export FORETRAIN_PROGRAM="$PWD/build/release/foretrain"
# Some virtual machines announce AMX and do not allow it, so that oneDNN would end the process; what is counted is the
# same with any instructions.
ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 OMP_NUM_THREADS=1 "$venv/bin/python" -m pytest --quiet --show-capture=no -rs -p no:cacheprovider \
  python/tests
[ "$(state)" = "$now" ] && echo "$now" >"$passed"
exit 0
