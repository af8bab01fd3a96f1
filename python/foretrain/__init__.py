# SPDX-License-Identifier: Apache-2.0
"""Foretrain predicts time, memory, resource use and cost of distributed training.

>>> import foretrain
>>> foretrain.predict("resnet50", device="a100", workers=8, batch=128).step_time_s.value
"""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as _version

from .catalogs import clouds, devices, models, networks
from .errors import Error
from .evaluation import evaluate
from .from_torch import from_torch
from .graphs import Graph, from_huggingface, graph, load
from .measurements import calibrate, import_measurements
from .prediction import Variant, WhatIf, predict, predict_many, vary, what_if
from .report import Report
from .simulation import simulate
from .steps import StepRecorder

try:
    __version__ = _version("foretrain")
except PackageNotFoundError:  # run from the source tree
    __version__ = "0"

__all__ = [
    "Error",
    "Graph",
    "Report",
    "StepRecorder",
    "Variant",
    "WhatIf",
    "calibrate",
    "clouds",
    "devices",
    "evaluate",
    "from_huggingface",
    "from_torch",
    "graph",
    "import_measurements",
    "load",
    "models",
    "networks",
    "predict",
    "predict_many",
    "simulate",
    "vary",
    "what_if",
]
