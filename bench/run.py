# SPDX-License-Identifier: Apache-2.0
"""Prints the speed figures of the command: cold start, requests per second, instructions, and what
reading a large ONNX file takes.

Times on a shared machine vary; instruction counts do not, so both are shown.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

COLD = ("predict resnet50 --device v100-sxm2-16gb --workers 8 --batch 128 --precision fp32 "
        "--dataset imagenet --epochs 90").split()
WHAT_IFS = ("resnet50 --device v100 --workers 16 --dataset imagenet --epochs 90",
            "bert-large --device a100 --workers 16 --batch 8 --optimizer adamw --steps 10000")
REQUESTS = 10_000
ONNX_GIBIBYTES = 5


def cold_start(program):
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        subprocess.run([program, *COLD], check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - begin)
    return statistics.median(times), min(times)


def what_if(program, job):
    """Seconds of the command, the best of five, and how many changes it lists."""
    arguments = [program, "predict", *job.split(), "--what-if", "--json"]
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        out = subprocess.run(arguments, check=True, capture_output=True)
        times.append(time.perf_counter() - begin)
    return min(times), len(json.loads(out.stdout)["what_if"])


def instructions(arguments, folder):
    out = os.path.join(folder, "callgrind.out")
    run = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *arguments],
                         check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


def make_requests(folder, count):
    path = os.path.join(folder, f"requests-{count}.jsonl")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "make_requests.py")
    with open(path, "w", encoding="utf-8") as file:
        subprocess.run([sys.executable, script, str(count)], check=True, stdout=file)
    return path


def bulk(program, path):
    begin = os.times()
    out = subprocess.run([program, "predict", "--requests", path], check=True, capture_output=True)
    end = os.times()
    answers = out.stdout.splitlines()
    assert len(answers) == REQUESTS and not any(b'"error"' in line[:10] for line in answers)
    cpu = end.children_user + end.children_system - begin.children_user - begin.children_system
    return REQUESTS / cpu


def large_onnx(program):
    """Wall time and peak resident memory of `graph` on a file whose weights are holes."""
    with tempfile.TemporaryDirectory(dir=os.path.dirname(program)) as folder:
        path = os.path.join(folder, "large.onnx")
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "make_sparse_onnx.py")
        subprocess.run([sys.executable, script, path, str(ONNX_GIBIBYTES)], check=True)
        begin = time.perf_counter()
        process = subprocess.Popen([program, "graph", path], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        assert status == 0 and os.path.getsize(path) > ONNX_GIBIBYTES << 30
        return seconds, usage.ru_maxrss / 1024


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        median, best = cold_start(program)
        print(f"cold start of one prediction     {1e3 * median:8.1f} ms (median of 20; best {1e3 * best:.1f} ms)")
        for job in WHAT_IFS:
            seconds, count = what_if(program, job)
            print(f"--what-if, {job.split()[0]:10}, {count:2} changes {1e3 * seconds:8.1f} ms")
        rate = bulk(program, make_requests(folder, REQUESTS))
        print(f"--requests, {REQUESTS} distinct       {rate:8.0f} per second of one core")
        seconds, mebibytes = large_onnx(program)
        print(f"graph of an ONNX file of {ONNX_GIBIBYTES} GiB  {1e3 * seconds:8.1f} ms, peak {mebibytes:.0f} MiB resident")
        cold = instructions([program, *COLD], folder)
        print(f"instructions, cold prediction    {cold / 1e6:8.1f} million")
        some, more = (instructions([program, "predict", "--requests", make_requests(folder, n)], folder)
                      for n in (200, 400))
        print(f"instructions, one more request   {(more - some) / 200 / 1e6:8.2f} million")


if __name__ == "__main__":
    main()
