# SPDX-License-Identifier: Apache-2.0
"""The graph hypernetwork's training, on a handful of architectures."""

import json
import zlib
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/release/foretrain"

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built")


@pytest.fixture(scope="module")
def training(tmp_path_factory):
    """The package, and a small set of architectures with images that are noise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "python"))
        from foretrain_train import graph_set
        from foretrain_train import train as module

        generator = torch.Generator().manual_seed(1)
        images = torch.randn(80, 3, 8, 8, generator=generator)
        labels = torch.arange(80) % 10
        patch.setattr(module, "load_digits", lambda: ((images, labels), (images, labels)))
        path = tmp_path_factory.mktemp("embedding") / "set"
        graph_set.main(["--program", str(PROGRAM), "--scale", "0.004", "-o", str(path)])
        torch.set_num_threads(1)
        yield module, module.Data(path, held_out=3)


def settings(module, **changes):
    return module.Setting(steps=6, architectures=2, images=20, others=3, **changes)


def test_goes_on_from_a_checkpoint_with_the_same_numbers(training, tmp_path):
    module, data = training

    class Interrupt(Exception):
        pass

    def stop(text):
        if text.startswith("step 4"):  # after the checkpoint of step 2
            raise Interrupt

    whole, history = module.train(data, settings(module), tmp_path / "whole.pt", print, every=2)
    with pytest.raises(Interrupt):
        module.train(data, settings(module), tmp_path / "part.pt", stop, every=2)
    rest, again = module.train(data, settings(module), tmp_path / "part.pt", print, every=2)
    assert torch.equal(torch.tensor(history).nan_to_num(), torch.tensor(again).nan_to_num())
    for name, value in whole.state_dict().items():
        assert torch.equal(value, rest.state_dict()[name]), name


def test_refuses_a_checkpoint_of_other_settings(training, tmp_path):
    module, data = training
    module.train(data, settings(module), tmp_path / "one.pt", print)
    with pytest.raises(SystemExit, match="other settings"):
        module.train(data, settings(module, seed=1), tmp_path / "one.pt", print)


def test_every_input_of_the_decoder_trains_and_classifies(training, tmp_path):
    module, data = training
    for kind in ("graph", "nodes", "none"):
        chosen = settings(module, input=kind, tasks="weights")
        network, history = module.train(data, chosen, tmp_path / f"{kind}.pt", print)
        assert all(loss == loss for loss, _ in history)
        found = module.accuracies(network, data, data.held_out)
        assert len(found) == 3
        assert all(0 <= accuracy <= 1 for accuracy in found)


def test_a_sweep_in_levels_is_one_node_after_the_other(training):
    """The equations of foretrain/learn/gated_graph.h, node by node."""
    module, data = training
    from foretrain_train.hypernetwork import make_batch

    graphs = data.held_out[:2]
    encoder = module.make_network(data, settings(module)).encoder
    together = encoder(make_batch(graphs))
    start = 0
    for graph in graphs:
        batch = make_batch([graph])
        states = encoder.kinds(batch.kinds) + encoder.sizes(encoder.standardised(batch))
        states = list(states)
        for back in (False, True):
            seen = {}
            order = range(len(states))
            for node in reversed(order) if back else order:
                received = torch.zeros_like(states[0])
                for a, b, steps in graph.edges:
                    source, target = (b, a) if back else (a, b)
                    if target == node:
                        network = encoder.near if steps == 1 else encoder.far
                        received = received + network(seen[source]) / steps
                states[node] = encoder.gru(received, states[node])
                seen[node] = states[node]
        alone = encoder.norm(torch.stack(states))
        assert torch.allclose(alone, together[start : start + len(alone)], atol=1e-5)
        start += len(alone)


def test_writes_a_file_with_its_checksum(training):
    module, data = training
    from foretrain_train.embedding_file import file_of, text_of

    encoder = module.make_network(data, settings(module)).encoder
    file = json.loads(text_of(file_of(encoder, data.trained + data.others)))
    given = file.pop("checksum")
    summed = json.dumps(file, sort_keys=True, separators=(",", ":"))
    assert zlib.crc32(summed.encode()) == given
    assert [row["name"] for row in file["parameters"]][:3] == [
        "features.mean", "features.deviation", "kinds"]  # fmt: skip


@pytest.mark.usefixtures("training")
def test_runs_a_graph_as_it_is_written():
    """y = relu(x W + b): x = (1, 2), W = rows (1, 1), (1, -1), b = (0.5, 0): (3.5, 0)."""
    from foretrain_train.execute import Program

    file = {
        "name": "small",
        "tensors": [
            {"name": "x", "shape": ["batch", 2], "role": "input"},
            {"name": "w", "shape": [2, 2], "role": "parameter"},
            {"name": "b", "shape": [2], "role": "parameter"},
            {"shape": ["batch", 2]},
            {"shape": ["batch", 2]},
        ],
        "nodes": [
            {"op": "linear", "inputs": ["x", "w", "b"], "outputs": [3]},
            {"op": "relu", "inputs": [3], "outputs": [4]},
        ],
        "outputs": [4],
    }
    weights = {1: torch.tensor([[1.0, 1.0], [1.0, -1.0]]), 2: torch.tensor([0.5, 0.0])}
    assert Program(file).run(weights, torch.tensor([[1.0, 2.0]])).tolist() == [[3.5, 0.0]]
    file["nodes"][1]["op"] = "roll"
    with pytest.raises(ValueError, match="roll"):
        Program(file)
