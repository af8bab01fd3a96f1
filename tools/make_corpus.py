# SPDX-License-Identifier: Apache-2.0
"""Prints 5,000 mixed requests as JSON lines: every model, device, link, framework, strategy and option.

    python3 tools/make_corpus.py build/release/foretrain >tests/corpus/requests.jsonl

The file is what tools/compare_reports.py asks two versions of the program. It is kept, not made anew: a catalog
that grows would change it.
"""
import json
import random
import subprocess
import sys

COUNT = 5000
MOST_ERRORS = 150
PRECISIONS = ["fp32"] * 5 + ["fp16"] * 3 + ["bf16"] * 2 + ["tf32", "fp8", "fp64"]
OPTIMIZERS = ["sgd", "momentum", "adam", "adamw", "lamb", "adagrad", "rmsprop", "lars", "none"]
DATASETS = ["imagenet", "cifar10", "coco", "squad", "wmt16-en-de", "ml-20m", "librispeech"]
INTRA_NODE = ["pcie3-x16", "pcie4-x16", "pcie3-x16-no-peer", "nvlink2", "nvlink3", "nvswitch", "shared-memory"]
NETWORKS = ["1gbe", "10gbe", "25gbe", "100gbe", "edr", "hdr", "4xhdr", "8xndr", "50gbps", "100gbe-roce", "efa"]
DEVICE = {"name": "described", "fp32_flops_per_s": 12e12, "memory_bytes_per_s": 700e9, "memory_bytes": 24e9,
          "tensor_fp16_flops_per_s": 90e12, "sms": 60, "l2_bytes": 6e6, "tdp_w": 250}
LINK = {"bytes_per_s": 2.5e9, "latency_s": 1e-5}
CALIBRATION = "tests/corpus/calibration.json"


def catalog(program, name):
    return json.loads(subprocess.run([program, name, "--json"], check=True, capture_output=True, text=True).stdout)


def names(rows):
    return [row["name"] if isinstance(row, dict) else row for row in rows]


def draw_strategy(rng, request):
    kind = rng.choice(["ddp", "ddp", "ddp", "allreduce", "horovod", "ps", "ps", "dataparallel", "object"])
    if kind == "object":
        request["strategy"] = {"kind": "ddp"}
        if "batch" in request:
            request["batch"] *= 4
            request["strategy"]["micro_batch"] = request["batch"] // rng.choice([1, 2, 4])
        return
    if kind == "dataparallel" and request["workers"]:
        request["workers"] = rng.choice([2, 4, 8])
        request.pop("workers_per_node", None)
        request.pop("placement", None)
    if kind != "ps":
        request["strategy"] = kind
        return
    request["strategy"] = {"kind": "ps", "servers": rng.choice([1, 1, 2, 4])}
    if rng.random() < 0.3:
        request["strategy"]["asynchronous"] = True
    if rng.random() < 0.2:
        request["strategy"]["server_device"] = "cpu:cores=8"
    if rng.random() < 0.1 and "placement" not in request and (request["workers"] or 9) <= 8:
        request["strategy"]["server_placement"] = [request["strategy"]["servers"]]


def draw_cluster(rng, request, devices, clouds):
    request["device"] = rng.choice(devices)
    request["workers"] = rng.choice([1, 1, 1, 2, 3, 4, 8, 8, 16, 32, 64, 256])
    draw = rng.random()
    if draw < 0.15:
        request["workers_per_node"] = rng.choice([1, 2, 4, 8])
    elif draw < 0.22:
        request["placement"] = rng.choice([[4, 4], [3, 3, 4, 4], [1, 2], [8, 8, 8, 8], [1, 1, 1, 1]])
        request["workers"] = sum(request["placement"])
    if rng.random() < 0.2:
        request["intra_node"] = rng.choice(INTRA_NODE)
    if request["workers"] > 8 or rng.random() < 0.1:
        request["network"] = rng.choice(NETWORKS)
    draw = rng.random()
    if draw < 0.03:
        request["network"] = LINK
    elif draw < 0.06:
        request["device"] = DEVICE if rng.random() < 0.5 else "tests/cases/toy.json"
    elif draw < 0.12:
        request["cloud"] = rng.choice(clouds)
        rng.random()  # of a choice that is no more: a device that contradicts the cloud is refused
        del request["device"]
    elif draw < 0.16:
        for field in ("device", "workers", "workers_per_node", "placement", "intra_node", "network"):
            request.pop(field, None)
        first, second = rng.sample([d for d in devices if not d.startswith("cpu")], 2)
        request["cluster"] = {"nodes": [{"count": rng.randint(1, 4), "device": first, "devices": rng.randint(1, 8)},
                                        {"count": rng.randint(1, 4), "device": second, "devices": rng.randint(1, 8)}],
                              "network": rng.choice(NETWORKS)}
        request["workers"] = None


def draw_options(rng, request, frameworks):
    if rng.random() < 0.5:
        request["framework"] = rng.choice(frameworks)
    if rng.random() < 0.15:
        request["mode"] = "inference"
    if rng.random() < 0.06:
        request["trainable"] = rng.choice(["head", "lora:rank=8", "all"])
    if rng.random() < 0.1:
        request["attention"] = rng.choice(["math", "flash"])
    if rng.random() < 0.05:
        request["autotune"] = rng.choice([True, False])
    for field, chance, values in (
            ("host_speed", 0.1, [0.5, 0.7, 1.4, 2]), ("input_rate", 0.03, [50, 400, 5000]),
            ("copy_rate", 0.02, [2e9, 6e9]), ("power_limit_w", 0.05, [100, 150, 300]),
            ("context_bytes", 0.05, [0, 5e8, 2e9]), ("price_per_device_hour", 0.1, [0, 0.5, 3.2])):
        if rng.random() < chance:
            request[field] = rng.choice(values)
    draw = rng.random()
    if draw < 0.2:
        request.update(dataset=rng.choice(DATASETS), epochs=rng.choice([1, 10, 90, 0.5]))
    elif draw < 0.4:
        request.update(samples=rng.randint(1000, 5_000_000), epochs=rng.randint(1, 100))
    elif draw < 0.5:
        request["steps"] = rng.randint(1, 1_000_000)
    elif draw < 0.6:
        request["tokens"] = rng.choice([1e9, 3e11])
    if rng.random() < 0.03:
        request["engine"] = rng.choice(["auto", "operators"])
    if rng.random() < 0.03:
        request["predictors"] = [CALIBRATION]


def draw(rng, model, devices, frameworks, clouds):
    request = {"model": model, "precision": rng.choice(PRECISIONS), "optimizer": rng.choice(OPTIMIZERS)}
    draw_cluster(rng, request, devices, clouds)
    if rng.random() < 0.85:
        request["batch"] = rng.choice([1, 2, 4, 8, 16, 32, 64, 128, rng.randint(1, 300)])
    elif request["workers"]:
        request["global_batch"] = request["workers"] * rng.randint(1, 64)
    draw_strategy(rng, request)
    if request["workers"] is None:
        del request["workers"]
        if "global_batch" in request:
            del request["global_batch"]
    if "placement" in request:
        request.pop("workers", None)
    draw_options(rng, request, frameworks)
    return request


def refused(program, lines):
    text = "\n".join(lines) + "\n"
    out = subprocess.run([program, "predict", "--requests", "-", "--threads", "2"], input=text, check=True,
                         capture_output=True, text=True).stdout
    return [line.startswith('{"error"') for line in out.splitlines()]


def main():
    program = sys.argv[1]
    rng = random.Random(14)
    devices = names(catalog(program, "devices")) + ["cpu:cores=1", "cpu:cores=2", "cpu:cores=16"]
    frameworks = [
        "pytorch", "pytorch-1", "pytorch-1-half", "pytorch-compile", "adaptdl", "tensorflow", "mxnet", "mxnet-nvidia",
        "paddle", "megatron", "nemo", "deepspeed", "nvidia", "tensorflow-xla", "jax"]
    clouds = names(catalog(program, "clouds"))
    models = names(catalog(program, "models"))
    models += [f"random:family={family},seed={seed}" for family in ("cnn", "transformer", "lstm", "mlp")
               for seed in range(12)]
    lines, errors, turn = [], [], 0
    while len(lines) + len(errors) < COUNT:
        fresh = []
        while len(fresh) < 500:
            request = draw(rng, models[turn % len(models)], devices, frameworks, clouds)
            fresh.append(json.dumps(request, separators=(",", ":")))
            turn += 1
        for line, error in zip(fresh, refused(program, fresh)):
            if not error:
                lines.append(line)
            elif len(errors) < MOST_ERRORS:
                errors.append(line)
        print(len(lines), len(errors), file=sys.stderr)
    print("\n".join((lines + errors)[:COUNT - len(errors)] + errors))


if __name__ == "__main__":
    main()
