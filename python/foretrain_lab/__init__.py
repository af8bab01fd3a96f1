# SPDX-License-Identifier: Apache-2.0
"""The lab's workers: processes that train, told what by lines of JSON, and say what they saw.

The program `foretrain` carries these files and sends them to the Python that trains, so they
need nothing but PyTorch. docs/lab.md describes the lines.
"""
