# SPDX-License-Identifier: Apache-2.0
"""Runs in a bare Python: imports this package from texts that came in over standard input.

``SOURCES`` holds the text of each module by its name. No file is needed where the worker runs.
"""

import importlib.abc
import importlib.machinery
import sys


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name in SOURCES:  # noqa: F821
            is_package = name == "foretrain_lab"
            return importlib.machinery.ModuleSpec(name, self, is_package=is_package)
        return None

    def exec_module(self, module):
        name = module.__name__
        code = compile(SOURCES[name], f"<{name}>", "exec")  # noqa: F821
        exec(code, module.__dict__)


sys.meta_path.insert(0, _Finder())
from foretrain_lab.worker import main  # noqa: E402

main()
