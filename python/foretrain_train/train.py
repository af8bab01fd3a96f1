# SPDX-License-Identifier: Apache-2.0
"""Trains the graph hypernetwork.

    python -m foretrain_train.train --set build/embedding/set --out build/embedding/main.pt

Each step generates the weights of a few random architectures, classifies digits with them and
lowers the mean loss; the embedding learns to tell sizes and operators. The same seed gives the
same numbers; an interrupted call goes on from its last checkpoint.
"""

import argparse
import math
import random
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch.nn import functional as F  # noqa: N812

from .digits import load_digits
from .execute import Program
from .graph_set import HELD_OUT, read_set
from .hypernetwork import Hypernetwork, make_batch


@dataclass
class Setting:
    steps: int = 2500
    seed: int = 0
    input: str = "graph"  # of the decoder: graph, nodes, none
    tasks: str = "both"  # both, weights, targets
    architectures: int = 4  # whose weights one step generates
    images: int = 32  # that each of them classifies
    others: int = 8  # graphs that tell their sizes alone, in every fourth step
    rate: float = 3e-3
    clip: float = 5.0


class Data:
    def __init__(self, path, held_out=HELD_OUT):
        run, self.others = read_set(path)
        self.programs = {graph.name: Program(file) for file, graph in run}
        graphs = [graph for _, graph in run]
        self.held_out, self.trained = graphs[:held_out], graphs[held_out:]
        self.names = list(graphs[0].targets)
        self.digits = load_digits()

    def standards(self):
        """Mean and deviation of nodes' features and of graphs' targets."""
        graphs = self.trained + self.others
        rows = torch.tensor([row for graph in graphs for row in graph.features]).double()
        targets = torch.tensor([list(graph.targets.values()) for graph in graphs])
        spread = targets.std(0)
        spread[spread < 1e-6] = 1
        return (rows.mean(0), rows.std(0)), (targets.mean(0), spread)


def make_network(data, setting):
    torch.manual_seed(setting.seed)
    network = Hypernetwork(len(data.names), setting.input)
    (mean, deviation), _ = data.standards()
    # As the shipped file keeps them: in single precision.
    network.encoder.mean.copy_(mean.float().double())
    network.encoder.deviation.copy_(deviation.float().double())
    return network


def class_losses(network, data, graphs, batch, states, images, labels):
    programs = [data.programs[graph.name] for graph in graphs]
    made = network.generate(programs, graphs, batch, states)
    losses = [F.cross_entropy(program.run(weights, images), labels)
              for program, weights in zip(programs, made, strict=True)]  # fmt: skip
    return [loss for loss in losses if torch.isfinite(loss)]


def target_loss(network, graphs, batch, states, standards):
    wanted = torch.tensor([list(graph.targets.values()) for graph in graphs])
    wanted = (wanted - standards[0]) / standards[1]
    told = network.tell(network.encoder.embed(batch, states))
    return F.smooth_l1_loss(told, wanted)


def step_loss(network, data, setting, step, standards):
    draw = random.Random(f"{setting.seed}:{step}")
    graphs = draw.sample(data.trained, min(setting.architectures, len(data.trained)))
    if setting.tasks != "weights" and step % 4 == 0:
        graphs = graphs + draw.sample(data.others, min(setting.others, len(data.others)))
    batch = make_batch(graphs)
    states = network.encoder(batch)
    total = states.new_zeros(())
    told = {"class": math.nan, "targets": math.nan}
    if setting.tasks != "targets":
        (images, labels), _ = data.digits
        chosen = torch.tensor(draw.sample(range(len(labels)), setting.images))
        run = graphs[: setting.architectures]
        losses = class_losses(network, data, run, batch, states, images[chosen], labels[chosen])
        if losses:
            total = total + torch.stack(losses).mean()
            told["class"] = total.item()
    if setting.tasks != "weights":
        loss = target_loss(network, graphs, batch, states, standards)
        total = total + loss
        told["targets"] = loss.item()
    return total, told


@torch.no_grad()
def accuracies(network, data, graphs):
    """Of each architecture with generated weights, on the images of the test."""
    _, (images, labels) = data.digits
    found = []
    for graph in graphs:
        batch = make_batch([graph])
        program = data.programs[graph.name]
        (weights,) = network.generate([program], [graph], batch, network.encoder(batch))
        found.append((program.run(weights, images).argmax(1) == labels).float().mean().item())
    return found


def save(path, state):
    part = path.with_suffix(".part")
    torch.save(state, part)
    part.rename(path)


def rate_at(setting, step):
    warm = min(1.0, (step + 1) / 50)
    return setting.rate * warm * (0.02 + 0.98 * (1 + math.cos(math.pi * step / setting.steps)) / 2)


def train(data, setting, path, say=print, every=100, until=None):
    """The network and its history; whole or resumed from `path`. `until`: of the setting's steps,
    by which the rate falls, those that are done; all where it is absent."""
    network = make_network(data, setting)
    optimizer = torch.optim.Adam(network.parameters(), lr=setting.rate)
    _, standards = data.standards()
    history, first, spent = [], 0, 0.0
    if path.exists():
        state = torch.load(path, weights_only=True)
        if state["setting"] != asdict(setting):
            raise SystemExit(f"{path}: was trained with other settings; remove it to train anew")
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        history, first, spent = state["history"], state["step"], state["seconds"]
    began = time.process_time() - spent
    last = min(until or setting.steps, setting.steps)
    for step in range(first, last):
        for group in optimizer.param_groups:
            group["lr"] = rate_at(setting, step)
        loss, told = step_loss(network, data, setting, step, standards)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), setting.clip)
        optimizer.step()
        history.append([told["class"], told["targets"]])
        if (step + 1) % every == 0 or step + 1 == last:
            recent = torch.tensor(history[-every:]).nanmean(0).tolist()
            seconds = time.process_time() - began
            say(f"step {step + 1} / {setting.steps}  class {recent[0]:.3f}  "
                f"targets {recent[1]:.4f}  {seconds:.0f} s CPU")  # fmt: skip
            save(path, {"setting": asdict(setting), "network": network.state_dict(),
                        "optimizer": optimizer.state_dict(), "history": history,
                        "step": step + 1, "seconds": seconds})  # fmt: skip
    return network, history


def load(data, path):
    state = torch.load(path, weights_only=True)
    setting = Setting(**state["setting"])
    network = make_network(data, setting)
    network.load_state_dict(state["network"])
    return network, setting, state


def main(arguments=None):
    parser = argparse.ArgumentParser(description="train the graph hypernetwork")
    parser.add_argument("--set", required=True, type=Path, help="written by graph_set")
    parser.add_argument("--out", required=True, type=Path, help="the checkpoint")
    parser.add_argument("--input", default="graph", choices=["graph", "nodes", "none"])
    parser.add_argument("--tasks", default="both", choices=["both", "weights", "targets"])
    parser.add_argument("--until", type=int, help="stop after so many of the steps")
    for name in ("steps", "seed", "architectures", "images"):
        parser.add_argument("--" + name, type=int, default=getattr(Setting, name))
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    setting = Setting(given.steps, given.seed, given.input, given.tasks,
                      given.architectures, given.images)  # fmt: skip
    given.out.parent.mkdir(parents=True, exist_ok=True)
    data = Data(given.set)
    network, _ = train(data, setting, given.out, lambda text: print(text, flush=True),
                       until=given.until)  # fmt: skip
    if setting.tasks != "targets":
        found = accuracies(network, data, data.held_out)
        print(f"architectures never trained: mean accuracy {sum(found) / len(found):.3f}")


if __name__ == "__main__":
    main()
