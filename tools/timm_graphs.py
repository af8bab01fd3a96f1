# SPDX-License-Identifier: Apache-2.0
"""Graphs of timm's image models, for rows of measurements that name them.

    python3 tools/timm_graphs.py timm_train.csv --out FOLDER [--part 1/2]

captures every model of the file at its image size with a cross entropy behind it, and writes
FOLDER/timm/MODEL_SIZE.ftg.json, which `foretrain evaluate --models FOLDER` then finds. What was
written before is left as it is; a model that cannot be captured leaves MODEL_SIZE.error, a line that
says why, and is tried again where that file is removed. Models that differ in their weights alone
are captured once. `--part 1/2` takes every second model, so that two of these share the work.
Needs timm, PyTorch and the Python package foretrain.
"""
import argparse
import csv
import hashlib
import json
import os
import pathlib
import re
import sys
import time
import warnings

# Attention as one operator, as timm has it with PyTorch 2; predictions for earlier versions take it apart.
os.environ.setdefault("TIMM_FUSED_ATTN", "1")


def wanted(path: pathlib.Path) -> list[tuple[str, int]]:
    """Models with the side of their images, each once, in the order of the file."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [(row["model"], re.search(r"3x([0-9]+)x", row["task_dataset"])) for row in csv.DictReader(file)]
    return list(dict.fromkeys((model, int(size[1])) for model, size in rows if size))


def prepare() -> None:
    """torchvision's operators are C++ that a CPU's PyTorch lacks; its Python needs their names."""
    import torch

    library = torch.library.Library("torchvision", "DEF")
    for operator in ("nms", "qnms"):
        library.define(f"{operator}(Tensor boxes, Tensor scores, float threshold) -> Tensor")
    prepare.library = library  # it must outlive its operators
    torch.set_num_threads(1)


def make_model(name: str, size: int):
    """A timm model without memory. Those with position tables are made for the image's size."""
    import timm
    import torch

    name = re.sub("^ig_(?=resnext)", "", name)  # timm's names of old weights all lead to one of the sizes
    with torch.device("meta"):
        try:
            return timm.create_model(name, img_size=size)
        except TypeError:  # most convolutional ones take any size
            return timm.create_model(name)


def signature(model, size: int) -> str:
    """The same for models that differ in their weights alone: modules with their plain attributes, parameters' shapes."""
    plain = (bool, int, float, str, tuple, type(None))
    text = [str(size)]
    for path, module in model.named_modules():
        own = sorted((key, value) for key, value in vars(module).items() if isinstance(value, plain))
        text.append(f"{path} {type(module).__name__} {module.extra_repr()} {own}")
    text += [f"{path} {tuple(parameter.shape)}" for path, parameter in model.named_parameters()]
    return hashlib.sha256("\n".join(text).encode()).hexdigest()


def capture(model, name: str, size: int) -> str:
    import torch

    import foretrain

    class WithLoss(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, images, labels):
            output = self.model(images)
            logits = output[0] if isinstance(output, (tuple, list)) else output
            return torch.nn.functional.cross_entropy(logits, labels)

    inputs = (torch.empty(4, 3, size, size, device="meta"), torch.empty(4, dtype=torch.int64, device="meta"))
    graph = foretrain.from_torch(WithLoss(model), inputs, name=name)
    if graph.fixed_batch is not None:
        raise ValueError(f"the batch could not be left open: {'; '.join(graph.notes)}")
    return graph.ftg()


def renamed(path: pathlib.Path, name: str) -> str:
    """A graph that is there already, under another name."""
    return re.sub(r'^"name": .*$', f'"name": {json.dumps(name)},', path.read_text(encoding="utf-8"), count=1, flags=re.M)


def write(path: pathlib.Path, text: str) -> None:
    """Whole or not at all, so that an interrupted run leaves nothing half written."""
    partial = path.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.rename(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=pathlib.Path, help="a CSV file with the columns model and task_dataset")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the folder of graphs")
    parser.add_argument("--part", default="1/1", help="I/N: every Nth model, from the Ith on")
    options = parser.parse_args()
    first, step = (int(number) for number in options.part.split("/"))
    folder = options.out / "timm"
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    prepare()
    captured: dict[str, pathlib.Path] = {}
    for name, size in wanted(options.rows)[first - 1 :: step]:
        path = folder / f"{name}_{size}.ftg.json"
        if path.exists() or path.with_name(f"{name}_{size}.error").exists():
            continue
        started = time.monotonic()
        try:
            model = make_model(name, size)
            key = signature(model, size)
            alike = captured.get(key)
            write(path, renamed(alike, name) if alike else capture(model, name, size))
            captured.setdefault(key, path)
            outcome = f"as {alike.name}" if alike else "ok"
        except Exception as error:  # PyTorch and timm raise many kinds
            outcome = " ".join(str(error).split())[:300] or type(error).__name__
            path.with_name(f"{name}_{size}.error").write_text(outcome + "\n", encoding="utf-8")
        print(f"{name} {size}: {outcome} ({time.monotonic() - started:.1f} s)", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
