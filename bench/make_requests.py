# SPDX-License-Identifier: Apache-2.0
"""Prints distinct mixed requests as JSON lines, for the throughput figure of `make bench`."""
import json
import random
import sys

MODELS = [
    "resnet18", "resnet50", "resnet101", "vgg16", "mobilenet_v2", "densenet40-k12", "inception_v3",
    "resnet20-cifar", "resnet18-cifar", "lstm-lm", "gnmt", "bert-base:seq=128", "bert-large:seq=512",
    "gpt2", "gpt:layers=12,hidden=768,heads=12,seq=1024,vocab=50304",
    "llama:layers=8,hidden=1024,heads=16,kv_heads=4,ffn=2816,seq=1024,vocab=32000", "neumf",
    "mlp:in=784,hidden=1024,layers=4,classes=10", "random:family=cnn,seed=7",
    "random:family=transformer,seed=11", "random:family=lstm,seed=5",
]
DEVICES = ["k80", "p100-sxm2-16gb", "v100-sxm2-16gb", "t4", "a100-sxm4-80gb", "rtx-2080-ti", "h100-sxm5-80gb"]
STRATEGIES = ["ddp", "ddp", "ddp", "allreduce", "horovod", {"kind": "ps", "servers": 2}]


def draw(rng):
    workers = rng.choice([1, 2, 3, 4, 8, 16, 32, 64])
    request = {
        "model": rng.choice(MODELS),
        "device": rng.choice(DEVICES),
        "workers": workers,
        "batch": rng.randint(1, 128),
        "precision": rng.choice(["fp32", "fp32", "fp16"]),
        "optimizer": rng.choice(["sgd", "momentum", "adam"]),
        "strategy": rng.choice(STRATEGIES),
        "samples": rng.randint(10_000, 2_000_000),
        "epochs": rng.randint(1, 100),
    }
    if workers > 8:
        request["network"] = rng.choice(["10gbe", "25gbe", "100gbe", "edr", "4xhdr"])
    return request


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    rng = random.Random(1)
    seen = set()
    while len(seen) < count:
        line = json.dumps(draw(rng))
        if line not in seen:
            seen.add(line)
            print(line)


if __name__ == "__main__":
    main()
