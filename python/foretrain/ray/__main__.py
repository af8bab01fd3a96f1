# SPDX-License-Identifier: Apache-2.0
"""``python -m foretrain.ray``: profile and run."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import signal
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

from ..errors import Error
from . import campaign as campaigns
from . import run as runs
from .cluster import LOCAL
from .profile import Options, profile

_INTERRUPTED = 130
_PROFILE = """\
examples:
  python -m foretrain.ray profile data/ray/campaign.json --address auto --store ray.db
  python -m foretrain.ray profile --model resnet20-cifar --samples 512,1024 --workers 1,2 --batch 16
What the output folder holds is not run again: after an interruption the same command goes on.
docs/ray.md describes campaign files and what is measured."""
_RUN = """\
examples:
  python -m foretrain.ray run --on ray://head:10001 -- predict --requests jobs.jsonl
  python -m foretrain.ray run --on local --each seed=1..5 -- \\
      fit inspector --data lab.db --method network --seed {seed} -o network-{seed}.json
What is printed is what the command prints without --on. docs/ray.md has the protocol."""


def _list_of(kind: type) -> Any:
    def read(text: str) -> list[Any]:
        try:
            return [kind(part) for part in text.split(",")]
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"'{text}' is no list of numbers") from error

    return read


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m foretrain.ray", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    raw = argparse.RawDescriptionHelpFormatter
    one = commands.add_parser(
        "profile",
        help="train with Ray Train, job after job, and store what was measured",
        epilog=_PROFILE,
        formatter_class=raw,
    )
    one.add_argument("campaign", nargs="?", type=pathlib.Path, help="file that says what to train")
    one.add_argument("--model", action="append", help="instead of a file: a model; may come again")
    one.add_argument("--samples", type=_list_of(int), help="sizes of the data set: 512,1024")
    one.add_argument("--workers", type=_list_of(int), default=[1], help="numbers of workers (1)")
    one.add_argument("--cpus", type=_list_of(float), default=[1.0], help="of each worker (1)")
    one.add_argument("--batch", type=_list_of(int), default=[32], help="of each worker (32)")
    one.add_argument("--epochs", type=int, default=2, help="of each job (2)")
    one.add_argument("--repeats", type=int, default=1, help="of each job (1)")
    one.add_argument("--optimizer", default="momentum", help=", ".join(campaigns.OPTIMIZERS))
    one.add_argument("--placement", default="SPREAD", help=", ".join(campaigns.PLACEMENTS))
    one.add_argument("--limit-cpus", action="store_true", help="by a control group per worker")
    one.add_argument("--name", default="ray", help="of the campaign in the store (ray)")
    one.add_argument("--address", default=LOCAL, help="of a Ray cluster (one started here)")
    one.add_argument("-o", "--output", type=pathlib.Path, default=Options.output,
                     help=f"folder of CSV files ({Options.output})")  # fmt: skip
    one.add_argument("--store", type=pathlib.Path, help="import what was measured into this store")
    one.add_argument("--storage-path", help="that nodes share, where Ray Train asks for one")
    one.add_argument("--most", type=int, help="stop after so many runs")
    one.add_argument("--quiet-cores", type=float, help="wait until this machine uses fewer")
    one.add_argument("--patience", type=float, default=30, help="seconds to wait for that (30)")
    one.add_argument("--dry-run", action="store_true", help="check all and count what would run")
    one.add_argument("--json", action="store_true", help="print the summary as JSON")
    two = commands.add_parser(
        "run",
        help="spread a command of the program over a cluster",
        epilog=_RUN,
        formatter_class=raw,
    )
    two.add_argument("--on", default=LOCAL, help="ray://host:10001, host:6379, auto or local")
    two.add_argument("--program", help="the program foretrain (FORETRAIN_PROGRAM, else by PATH)")
    two.add_argument("--lines", type=int, help="of one piece of work")
    two.add_argument("--at-once", type=int, help="pieces under way (twice the CPUs)")
    two.add_argument("--send", action="append", default=[], help="a file or folder for the nodes")
    two.add_argument("--each", action="append", default=[], metavar="NAME=1..5",
                     help="run the command for each value, which stands for {NAME}")  # fmt: skip
    two.add_argument("words", nargs=argparse.REMAINDER, help="-- and the command")
    return parser


def _campaign(given: argparse.Namespace) -> campaigns.Campaign:
    if given.campaign is not None:
        if given.model or given.samples:
            raise Error("a campaign file says what to train; leave out --model and --samples")
        return campaigns.read_campaign(given.campaign)
    if not given.model or not given.samples:
        raise Error("name a campaign file, or give --model and --samples")
    content = {
        "name": given.name,
        "models": given.model,
        "samples": given.samples,
        "workers": given.workers,
        "cpus": given.cpus,
        "batches": given.batch,
        "epochs": given.epochs,
        "repeats": given.repeats,
        "optimizer": given.optimizer,
        "placement": given.placement,
        "limit_cpus": given.limit_cpus,
    }
    return campaigns.make_campaign(content, "profile")


def _profile(given: argparse.Namespace) -> int:
    campaign = _campaign(given)
    if given.dry_run:
        found = {"configurations": len(campaign.configurations), "runs": len(campaign.runs())}
        print(json.dumps(found) if given.json else "{configurations} configurations, {runs} runs"
              .format(**found))  # fmt: skip
        return 0
    options = Options(
        address=given.address,
        output=given.output,
        store=given.store,
        storage=given.storage_path,
        most=given.most,
        quiet_cores=given.quiet_cores,
        patience_s=given.patience,
        say=lambda text: print(text, file=sys.stderr, flush=True),
    )
    summary = profile(campaign, options)
    if given.json:
        print(json.dumps(vars(summary)))
    else:
        print(
            f"{summary.total} runs: {summary.found} were there, {summary.measured} measured, "
            f"{summary.missing} tried without success"
        )
    return 1 if summary.missing else 0


@contextlib.contextmanager
def _own_output() -> Iterator[BinaryIO]:
    """Standard output for results alone; what Ray prints of lost workers goes to standard error."""
    sys.stdout.flush()
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        yield out


def _run(given: argparse.Namespace) -> int:
    words = given.words[1:] if given.words[:1] == ["--"] else given.words
    each, send = list(given.each), list(given.send)
    for option, values in (("--each", each), ("--send", send)):  # of `foretrain fit … --on …`
        while option in words and words.index(option) + 1 < len(words):
            place = words.index(option)
            values.append(words[place + 1])
            words = words[:place] + words[place + 2 :]
    program = runs.find_program(given.program)
    with _own_output() as out:
        return runs.run(
            runs.Command(words, given.on, program, out, given.lines, given.at_once, send, each)
        )


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        return _profile(given) if given.command == "profile" else _run(given)
    except Error as error:
        print(f"foretrain: {error}", file=sys.stderr)
        return 1 if error.kind == "Io" else 2
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        advice = "; the same command goes on from there" if given.command == "profile" else ""
        print(f"foretrain: interrupted{advice}", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1


if __name__ == "__main__":
    sys.exit(main())
