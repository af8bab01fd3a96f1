# SPDX-License-Identifier: Apache-2.0
"""Asks two versions of the program the same requests and compares their reports.

    python3 tools/compare_reports.py --base REVISION [--program build/release/foretrain]

Builds REVISION below build/compare/ (once), asks it and the program tests/corpus/requests.jsonl and compares:
numbers by their characters, texts apart. Exits with 1 where a number differs in a request that is not exempt,
or where more than 15 % are exempt. What only the new version reports is not compared.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT / "tests/corpus/requests.jsonl"
MOST_EXEMPT = 0.15
ROUNDING = 1e-9


def saturated(answer):
    """Whether the servers of asynchronous workers decide how long a step takes: then the exchanges of all workers,
    which communication_s counts, last as long as the step without its input. Else a worker's own do not fill it."""
    if "error" in answer:
        return False
    step = float(answer["step_time_s"]["value"]) - float(answer["breakdown_s"]["input"])
    return float(answer["communication_s"]) >= step * (1 - ROUNDING)


def exempt(request, answer):
    """Why the numbers of a request may differ; "" where they may not. `answer` is that of the new version."""
    strategy = request.get("strategy")
    asynchronous = isinstance(strategy, dict) and strategy.get("asynchronous")
    if request.get("mode") != "inference" and asynchronous and saturated(answer):
        return "saturated servers: they are simulated"
    if "input_rate" in request or "copy_rate" in request:
        return "input: waiting is simulated"
    device = request.get("device")
    described = isinstance(device, dict) or str(device).endswith(".json")
    if described and (request.get("workers", 1) > 1 or "placement" in request):
        return "a described device on several workers: as the named ones"
    return ""


class Number(str):
    """A number as the characters that stand for it."""


def parse(line):
    return json.loads(line, parse_float=Number, parse_int=Number)


def leaves(value, path=""):
    """Every value of a JSON text with its path."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from leaves(part, f"{path}[{i}]")
    else:
        yield path, value


def differences(old, new):
    """(numbers, texts) that differ: each (path, old, new); what only `new` has is left out."""
    if ("error" in old) != ("error" in new):
        return [("error", old.get("error"), new.get("error"))], []
    found = dict(leaves(new))
    numbers, texts = [], []
    for path, value in leaves(old):
        other = found.get(path)
        if value == other and isinstance(value, Number) == isinstance(other, Number):
            continue
        is_text = isinstance(value, str) and not isinstance(value, Number)
        (texts if is_text else numbers).append((path, value, other))
    texts += [(path, None, found[path]) for path in sorted(set(found) - {p for p, _ in leaves(old)})
              if path.startswith(("assumptions", "warnings"))]
    return numbers, texts


def build(revision):
    commit = subprocess.run(["git", "rev-parse", "--verify", revision + "^{commit}"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.strip()
    tree = ROOT / "build/compare" / commit[:12]
    program = tree / "build/release/foretrain"
    if not program.exists():
        if not tree.exists():
            subprocess.run(["git", "worktree", "add", "--detach", str(tree), commit], cwd=ROOT, check=True,
                           stdout=subprocess.DEVNULL)
        subprocess.run(["make", "build"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    return program


def answers(program, corpus):
    run = subprocess.run([str(program), "predict", "--requests", str(corpus), "--threads", "2"], cwd=ROOT, check=True,
                         capture_output=True, text=True)
    return run.stdout.splitlines()


def report(requests, old, new):
    counts = collections.Counter()
    exempt_numbers, paths, texts, shown = collections.Counter(), collections.Counter(), {}, []
    for number, (request, before, after) in enumerate(zip(requests, old, new), 1):
        answer = parse(after)
        numbers, words = differences(parse(before), answer)
        why = exempt(request, answer)
        counts["exempt"] += bool(why)
        for path, was, now in words:
            texts.setdefault((str(was)[:100], str(now)[:100]), []).append(number)
        if not numbers:
            continue
        if why:
            exempt_numbers[why] += 1
            continue
        counts["different"] += 1
        for path, *_ in numbers:
            paths[path.split("[")[0]] += 1
        if len(shown) < 10:
            shown.append((number, numbers[:3], request))
    print(f"{len(requests)} requests: {counts['different']} with other numbers, {counts['exempt']} exempt")
    for why, count in exempt_numbers.items():
        print(f"  exempt, other numbers in {count}: {why}")
    for path, count in paths.most_common(20):
        print(f"  {count:5} {path}")
    for number, numbers, request in shown:
        print(f"  request {number}: {numbers}\n    {json.dumps(request)}")
    print(f"{len(texts)} kinds of other texts")
    for (was, now), where in sorted(texts.items(), key=lambda item: -len(item[1]))[:20]:
        print(f"  {len(where):5} (request {where[0]}) {was!r} -> {now!r}")
    return counts["different"] == 0 and counts["exempt"] <= MOST_EXEMPT * len(requests)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True, metavar="REVISION")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/foretrain")
    parser.add_argument("--corpus", type=pathlib.Path, default=CORPUS)
    given = parser.parse_args()
    requests = [json.loads(line) for line in given.corpus.read_text(encoding="utf-8").splitlines()]
    old, new = answers(build(given.base), given.corpus), answers(given.program.resolve(), given.corpus)
    if not len(old) == len(new) == len(requests):
        print(f"{len(requests)} requests, but {len(old)} and {len(new)} answers")
        return 1
    return 0 if report(requests, old, new) else 1


if __name__ == "__main__":
    sys.exit(main())
