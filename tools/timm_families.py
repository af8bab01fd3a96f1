# SPDX-License-Identifier: Apache-2.0
"""Families of timm's models: the module of timm that defines each.

    python3 tools/timm_families.py timm_train.csv families.csv

writes the columns model and family, which `foretrain fit embedding --families` reads. Needs timm.
"""
import csv
import pathlib
import sys

from timm_graphs import prepare, wanted


def main() -> None:
    prepare()
    from timm.models import _registry as registry

    modules = dict(registry._model_to_module)
    for module, names in registry._module_to_deprecated_models.items():
        modules.update({name: module for name in names})
    names = sorted({model for model, _ in wanted(pathlib.Path(sys.argv[1]))})
    rows = [["model", "family"]]
    for name in names:
        module = modules.get(name)
        if module is None:
            module = name.split("_")[0]
            print(f"{name}: not in this timm; its family is taken to be {module}", file=sys.stderr)
        rows.append([name, module])
    with pathlib.Path(sys.argv[2]).open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
