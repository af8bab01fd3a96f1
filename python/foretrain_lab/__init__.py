# SPDX-License-Identifier: Apache-2.0
"""The lab's workers: processes that train, told what by lines of JSON, and say what they saw.

The program `foretrain` carries these files and sends them to the Python that trains, so they
need nothing but PyTorch. A job is a line on standard input, its result one on standard output;
what anything else prints goes to standard error. Every job has its `kind` and its number, `job`;
every result that number and `ok`, or `error` with what went wrong.

hello        `activity_source` (C++ of the log of memory traffic) -> version of `pytorch`, the
             `machine`, name of the `gpu` where there is one, why memory traffic cannot be logged
train        `role`, `rank`, `graph` (an .ftg.json), `batch`, `optimizer`, `strategy` and how the
             hosts find each other; how long to measure, or `whole` with `samples` and `epochs`
             -> a worker: `steps_s`, `exposed_s` of each step, when they began and ended
             (CLOCK_MONOTONIC), `compute_s`, bytes; all: what memory moved in each window
list_operators  a `graph` and a `batch` -> its `operators`, each once
operators    `operators` -> `rows` of the store, what was `skipped`
collectives  `kinds`, `sizes` in bytes, `rank` and `workers` -> the same

The end of standard input ends the process; so does the end of a whole job.
"""
