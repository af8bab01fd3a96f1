# SPDX-License-Identifier: Apache-2.0
"""Prints how long one cold prediction takes as GPUs are added: a decoder like Llama 3.1 405B, split
over tensor, context, pipeline and data parallelism, from 8 to 16,384 GPUs.

Data-parallel ranks are alike, so the time grows with distinct work, not with ranks.
"""
import json
import statistics
import subprocess
import sys
import time

MODEL = "llama:layers=126,hidden=16384,heads=128,kv_heads=8,ffn=53248,seq=8192,vocab=128256"
MICRO_BATCHES = 32
RUNS = 5


def degrees(gpus):
    """Tensor parallelism fills a node first, then up to 16 pipeline stages."""
    tensor = min(8, gpus)
    return tensor, min(16, gpus // tensor)


def request(gpus, context):
    tensor, pipeline = degrees(gpus // context)
    return json.dumps({
        "model": MODEL, "device": "h100-sxm5-80gb", "workers": gpus, "workers_per_node": 8,
        "intra_node": "nvswitch", "network": "8xndr", "batch": MICRO_BATCHES, "precision": "bf16",
        "framework": "megatron", "attention": "flash", "optimizer": "adamw",
        "strategy": {"kind": "zero1", "tensor": tensor, "pipeline": pipeline, "micro_batch": 1,
                     "context": context, "sequence_parallel": True}})


def cold(program, gpus, context):
    """Seconds of the whole command, median and least, and the step that it predicts."""
    times = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        out = subprocess.run([program, "predict", "--requests", "-"], input=request(gpus, context),
                             check=True, capture_output=True, text=True)
        times.append(time.perf_counter() - begin)
    report = json.loads(out.stdout)
    if "error" in report:
        sys.exit(f"{gpus} GPUs: {report['error']['message']}")
    return statistics.median(times), min(times), report["step_time_s"]["value"]


def main():
    program = sys.argv[1]
    print("one cold prediction of 405 billion parameters")
    print(f"{'GPUs':>6} {'tensor':>6} {'context':>7} {'pipeline':>8} {'data':>5} "
          f"{'median':>9} {'least':>9} {'step':>9}")
    for context in (1, 2):
        gpus = 8 * context
        while gpus <= 16384:
            tensor, pipeline = degrees(gpus // context)
            median, least, step = cold(program, gpus, context)
            print(f"{gpus:>6} {tensor:>6} {context:>7} {pipeline:>8} "
                  f"{gpus // tensor // context // pipeline:>5} "
                  f"{1000 * median:>6.0f} ms {1000 * least:>6.0f} ms {step:>7.2f} s")
            gpus *= 2


if __name__ == "__main__":
    main()
