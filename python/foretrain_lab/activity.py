# SPDX-License-Identifier: Apache-2.0
"""Memory activity and live tensors of this process, by a small library inside it."""

from __future__ import annotations

import ctypes
import hashlib
import os
import pathlib
import subprocess
import tempfile

import torch

_library: ctypes.CDLL | None = None


def build(source: str) -> pathlib.Path:
    """Compiles the library once for this PyTorch; later calls find it in the cache."""
    key = hashlib.sha256((source + torch.__version__).encode()).hexdigest()[:16]
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    folder = pathlib.Path(base) / "foretrain"
    target = folder / f"activity-{key}.so"
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    torch_folder = pathlib.Path(torch.__file__).parent
    abi = int(torch.compiled_with_cxx11_abi())
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        code = pathlib.Path(temporary) / "activity.cc"
        code.write_text(source, encoding="utf-8")
        built = pathlib.Path(temporary) / "activity.so"
        include = torch_folder / "include"
        command = [
            *("g++", "-std=c++20", "-O2", "-DNDEBUG", "-shared", "-fPIC"),
            f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
            *("-isystem", str(include), "-isystem", str(include / "torch/csrc/api/include")),
            *(str(code), "-o", str(built), "-L", str(torch_folder / "lib")),
            *("-lc10", "-ltorch_cpu"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise OSError(f"cannot compile the memory log: {done.stderr.strip()[:500]}")
        built.rename(target)
    return target


def load(source: str) -> None:
    """Makes the functions below work; throws OSError where the library cannot be built."""
    global _library
    if _library is None:
        library = ctypes.CDLL(str(build(source)))
        library.foretrain_peak_bytes.restype = ctypes.c_double
        library.foretrain_start_log.argtypes = [ctypes.c_double]
        library.foretrain_stop_log.restype = ctypes.c_double
        library.foretrain_stop_log.argtypes = [ctypes.POINTER(ctypes.c_double)]
        library.foretrain_copy_log.argtypes = [ctypes.POINTER(ctypes.c_double)]
        library.foretrain_live_bytes.restype = ctypes.c_double
        library.foretrain_count_tensors()
        _library = library


def peak_bytes() -> tuple[float, float] | None:
    """The most that tensors occupied at once since the last call, and what they occupy now."""
    if not _library:
        return None
    return float(_library.foretrain_peak_bytes()), float(_library.foretrain_live_bytes())


def start_log(window_s: float) -> None:
    if _library:
        _library.foretrain_start_log(window_s)


def stop_log() -> tuple[float, list[float]] | None:
    """When the first window begins, and the bytes moved in each."""
    if not _library:
        return None
    first = ctypes.c_double()
    count = int(_library.foretrain_stop_log(ctypes.byref(first)))
    values = (ctypes.c_double * max(count, 1))()
    if count:
        _library.foretrain_copy_log(values)
    return first.value, list(values)[:count]
