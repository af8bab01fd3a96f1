# SPDX-License-Identifier: Apache-2.0
"""Speed of the embedding engine: python3 bench/embedding_bench.py PROGRAM [--predictor FILE] [--json]

CPU time of one prediction from start to end (graph, embedding and the operator engine included), of many requests for
networks that are all new, and of many requests for a few networks. Without a predictor one is fitted to data/lab.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLD = ("resnet50", "gpt2", "resnet152")
NEW, MANY = 400, 4000
FEW = ("resnet18-cifar", "resnet56-cifar", "mobilenet_v2:image=32,classes=10", "random:family=mlp,seed=3")


def cpu_s(arguments: list[str]) -> float:
    before = os.times()
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def request(model: str, batch: int, predictor: str) -> str:
    return json.dumps({"model": model, "device": "cpu", "workers": 2, "workers_per_node": 1, "network": "1gbps", "batch": batch,
                       "predictors": [predictor], "engine": "embedding"})  # fmt: skip


def bulk(program: str, requests: list[str], folder: str) -> float:
    """Requests per second of one core; what one of them takes is not counted."""
    files = []
    for name, lines in (("one", requests[:1]), ("all", requests)):
        files.append(pathlib.Path(folder, name))
        files[-1].write_text("\n".join(lines) + "\n", encoding="utf-8")
    one, whole = (min(cpu_s([program, "predict", "--requests", str(file)]) for _ in range(3)) for file in files)
    return (len(requests) - 1) / (whole - one)


def measure(program: str, predictor: str, folder: str) -> dict:
    cold = {
        model: min(cpu_s([program, "predict", model, "--device", "cpu", "--predictors", predictor, "--engine", "embedding"]) for _ in range(5))
        for model in COLD
    }
    new = [request(f"random:family=cnn,image=8,seed={seed}", 8, predictor) for seed in range(NEW)]
    known = [request(FEW[i % len(FEW)], 1 + i // len(FEW), predictor) for i in range(MANY)]
    return {"cold_s": cold, "new_per_s": bulk(program, new, folder), "known_per_s": bulk(program, known, folder)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--predictor", default="")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        predictor = given.predictor
        if not predictor:
            predictor = str(pathlib.Path(folder, "embedding.json"))
            subprocess.run([given.program, "fit", "embedding", "--data", str(ROOT / "data/lab/measured"), "--target", "plain", "--leave-out",
                            "model", "--method", "svr", "-o", predictor], check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        found = measure(given.program, predictor, folder)
    if given.json:
        print(json.dumps(found))
        return
    for model, seconds in found["cold_s"].items():
        print(f"cold, {model:12}            {1e3 * seconds:8.1f} ms of CPU time")
    print(f"bulk, all networks new        {found['new_per_s']:8.0f} per second of one core")
    print(f"bulk, {len(FEW)} networks              {found['known_per_s']:8.0f} per second of one core")


if __name__ == "__main__":
    main()
