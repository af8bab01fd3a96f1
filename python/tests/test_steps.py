# SPDX-License-Identifier: Apache-2.0
"""Steps of training loops: plain ones and those of other libraries."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import time
import types
from typing import Any

import pytest
import torch

import foretrain

CPU = {"device": "cpu:cores=1", "precision": "fp32"}


class Clock:
    """Stands still until it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("foretrain.steps.time.perf_counter", lambda: self.now)

    def spend(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def recorder(said: list[str], **options: Any) -> foretrain.StepRecorder:
    return foretrain.StepRecorder("mlp", batch=8, say=said.append, **CPU, **options)


def test_a_step_is_the_body_and_the_wait_for_the_next_batch(clock: Clock) -> None:
    """The first wait of a loop, here 7 s, belongs to no step; 1 + 2 s to every other."""

    def batches(first_wait_s: float) -> Any:
        clock.spend(first_wait_s)
        yield 0
        for number in range(1, 4):
            clock.spend(2)
            yield number

    measured = recorder([], warm_up=1)
    for _ in measured.steps(batches(7)):
        clock.spend(1)
    assert measured.step_times_s == [3, 3, 3]  # the first, of 1 s, warmed up
    for _ in measured.steps(batches(70)):
        clock.spend(1)
    assert measured.step_times_s == [3, 3, 3, 1, 3, 3, 3]
    assert measured.step_time_s == 3


def test_work_between_steps_does_not_count(clock: Clock) -> None:
    measured = recorder([], warm_up=0)
    for _ in range(3):
        with measured.step():
            clock.spend(2)
        clock.spend(50)
    measured.tick()  # where a step begins, not where one ends
    clock.spend(4)
    measured.tick()
    measured.pause()
    clock.spend(60)
    measured.tick()
    assert measured.step_times_s == [2, 2, 2, 4]


def test_predicted_and_measured_are_told(clock: Clock, tmp_path: pathlib.Path) -> None:
    said: list[str] = []
    file = tmp_path / "new" / "steps.jsonl"
    with recorder(said, warm_up=0, output=file) as measured:
        predicted = measured.report.step_time_s.value
        for _ in measured.steps(range(25)):
            clock.spend(predicted / 2)
    assert [text.split("; ")[0].split(", ")[1] for text in said] == [
        "the median of 20",
        "the median of 25",
    ]
    assert said[-1].endswith("100 % more")  # predicted is twice what was measured
    measured.close()
    lines = file.read_text().splitlines()
    assert len(lines) == 1 and len(said) == 2
    line = json.loads(lines[0])
    assert line["request"] == {"model": "mlp", "batch": 8, **CPU}
    assert line["step_time_s"] == pytest.approx(predicted / 2)


def test_without_steps_nothing_is_written(tmp_path: pathlib.Path) -> None:
    said: list[str] = []
    with recorder(said, output=tmp_path / "steps.jsonl") as measured:
        measured.tick()
    assert "no step was counted yet" in said[0]
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_request_is_told_before_training() -> None:
    with pytest.raises(foretrain.Error, match="devise"):
        foretrain.StepRecorder("mlp", devise="cpu")  # type: ignore[call-arg]


def test_a_pytorch_loop(tmp_path: pathlib.Path) -> None:
    """The module is captured; its file beside the output gives the same prediction."""
    net = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    data = torch.utils.data.TensorDataset(torch.randn(120, 64), torch.randint(10, (120,)))
    loader = torch.utils.data.DataLoader(data, batch_size=4)
    output = tmp_path / "steps.jsonl"
    begin = time.perf_counter()
    with foretrain.StepRecorder(
        net, torch.zeros(4, 64), batch=4, optimizer="sgd", output=output, say=None, **CPU
    ) as measured:
        for inputs, labels in measured.steps(loader):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(inputs), labels).backward()
            optimizer.step()
    elapsed = time.perf_counter() - begin
    assert len(measured.step_times_s) == 27  # of 30, three to warm up
    assert 0 < sum(measured.step_times_s) <= elapsed
    line = json.loads(output.read_text())
    assert line["step_time_s"] == measured.step_time_s
    model = line["request"].pop("model")
    assert pathlib.Path(model).parent == tmp_path
    again = foretrain.predict(pathlib.Path(model), **line["request"])
    assert again.step_time_s == measured.report.step_time_s


def test_workers_are_the_processes_of_torch_distributed(tmp_path: pathlib.Path) -> None:
    """Two processes: both count, the first one writes."""
    program = f"""
import sys, torch.distributed as dist, foretrain
meeting = "file://{tmp_path}/meet"
dist.init_process_group("gloo", init_method=meeting, rank=int(sys.argv[1]), world_size=2)
with foretrain.StepRecorder("mlp", batch=8, device="cpu:cores=1", network="1gbe", warm_up=0,
                            output="{tmp_path}/steps.jsonl") as recorder:
    for _ in recorder.steps(range(3)):
        dist.barrier()
dist.destroy_process_group()
"""
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(rank)], stdout=subprocess.PIPE)
        for rank in range(2)
    ]
    said = [process.communicate(timeout=600)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert b"the median of 3" in said[0] and said[1] == b""
    lines = (tmp_path / "steps.jsonl").read_text().splitlines()
    assert [json.loads(line)["request"]["workers"] for line in lines] == [2]


def test_torch_is_not_imported() -> None:
    program = (
        "import sys, foretrain\n"
        "with foretrain.StepRecorder('mlp', device='cpu:cores=1', say=None) as r: r.tick()\n"
        "assert not {'torch', 'transformers', 'lightning'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def train_by_hugging_face(folder: pathlib.Path, callback: Any) -> torch.nn.Module:
    """Ten steps of a small model."""
    import transformers

    config = transformers.GPT2Config(
        n_layer=1, n_embd=32, n_head=2, vocab_size=100, bos_token_id=0, eos_token_id=0
    )
    sample = {"input_ids": torch.arange(16), "labels": torch.arange(16)}
    args = transformers.TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=4,
        max_steps=10,
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        save_strategy="no",
    )
    model = transformers.GPT2LMHeadModel(config)
    data = [sample] * 64
    transformers.Trainer(model=model, args=args, train_dataset=data, callbacks=[callback]).train()
    return model


def test_hugging_face_trainer(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    from foretrain.integrations.huggingface import Callback

    said: list[str] = []
    output = tmp_path / "steps.jsonl"
    callback = Callback(device="cpu:cores=1", output=output, say=said.append)
    model = train_by_hugging_face(tmp_path / "out", callback)
    assert callback.recorder is not None, said
    assert len(callback.recorder.step_times_s) == 6  # ten but the one that is looked at and three
    request = json.loads(output.read_text())["request"]
    parameters = sum(p.numel() for p in model.parameters())
    assert foretrain.load(request.pop("model")).parameters == parameters
    assert request == {"batch": 4, "workers": 1, "optimizer": "adamw", **CPU}
    assert "the median of 6; predicted" in said[-1]
    assert model.forward.__self__._forward_pre_hooks == {}


def test_hugging_face_training_goes_on_without_a_prediction(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    from foretrain.integrations.huggingface import Callback, _request_of

    said: list[str] = []
    train_by_hugging_face(tmp_path, Callback("mlp", device="k81", say=said.append))
    assert len(said) == 1 and "no prediction" in said[0] and "k81" in said[0]
    args = types.SimpleNamespace(
        per_device_train_batch_size=2,
        gradient_accumulation_steps=3,
        gradient_checkpointing=True,
        n_gpu=1,
        world_size=4,
        bf16=True,
        fp16=False,
        tf32=True,
        optim="adafactor",
    )
    assert _request_of(args) == {
        "batch": 6,
        "workers": 4,
        "precision": "bf16",
        "strategy": {"kind": "ddp", "micro_batch": 2, "recompute": "full"},
    }
    args.fsdp = ["full_shard"]
    assert _request_of(args)["strategy"]["kind"] == "fsdp"
    args.deepspeed = "ds.json"
    args.hf_deepspeed_config = types.SimpleNamespace(get_value=lambda key, default: 2)
    assert _request_of(args)["strategy"]["kind"] == "zero2"


def lightning_module(lightning: Any) -> Any:
    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = torch.nn.Linear(16, 4)
            self.example_input_array = torch.zeros(2, 16)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.net(x)

        def training_step(self, batch: Any, _: int) -> torch.Tensor:
            return torch.nn.functional.cross_entropy(self(batch[0]), batch[1])

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    return Module()


def train_by_lightning(callback: Any, **options: Any) -> None:
    """Two epochs of eight batches."""
    import lightning.pytorch as lightning

    data = torch.utils.data.TensorDataset(torch.randn(32, 16), torch.randint(4, (32,)))
    trainer = lightning.Trainer(
        accelerator="cpu",
        devices=1,
        max_epochs=2,
        callbacks=[callback],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        **options,
    )
    trainer.fit(lightning_module(lightning), torch.utils.data.DataLoader(data, batch_size=4))


def test_lightning_trainer(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("lightning.pytorch")
    from foretrain.integrations.lightning import Callback

    said: list[str] = []
    output = tmp_path / "steps.jsonl"
    callback = Callback(device="cpu:cores=1", optimizer="sgd", output=output, say=said.append)
    train_by_lightning(callback)
    # The first step of each epoch marks a beginning, three warm up.
    assert callback.recorder is not None, said
    assert len(callback.recorder.step_times_s) == 2 * 7 - 3
    request = json.loads(output.read_text())["request"]
    assert foretrain.load(request.pop("model")).parameters == 16 * 4 + 4
    assert request == {"batch": 4, "workers": 1, "optimizer": "sgd", **CPU}
    assert "predicted" in said[-1]


def test_lightning_steps_are_those_of_the_optimizer() -> None:
    pytest.importorskip("lightning.pytorch")
    from foretrain.integrations.lightning import Callback

    # Given here: what the Trainer knows does not count. Four steps of two batches in each epoch.
    callback = Callback("mlp", device="cpu:cores=1", strategy="ddp", warm_up=0, say=None)
    train_by_lightning(callback, accumulate_grad_batches=2)
    assert callback.recorder is not None
    assert callback.recorder.request["batch"] == 8
    assert len(callback.recorder.step_times_s) == 2 * 3
    said: list[str] = []
    train_by_lightning(Callback("mlp", device="k81", say=said.append))
    assert len(said) == 1 and "no prediction" in said[0] and "k81" in said[0]
