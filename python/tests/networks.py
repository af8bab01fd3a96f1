# SPDX-License-Identifier: Apache-2.0
"""Networks in plain PyTorch that the tests capture."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class WithLoss(nn.Module):
    """A classifier with its cross entropy."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(self.network(x), target)


class Branches(nn.Module):
    """Residual blocks, parallel branches that are concatenated, a gate, several pools."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 32, 7, stride=2, padding=3, bias=False), nn.BatchNorm2d(32), nn.ReLU()
        )
        self.one = nn.Conv2d(32, 16, 1)
        self.three = nn.Sequential(
            nn.Conv2d(32, 24, 1), nn.SiLU(), nn.Conv2d(24, 24, (3, 1), padding=(1, 0))
        )
        self.five = nn.Conv2d(32, 24, 5, padding=2, dilation=1)
        self.block = nn.Sequential(
            nn.Conv2d(64, 64, 3, padding=1, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(inplace=True),
            nn.Conv2d(64, 64, 3, padding="same", dilation=2),
            nn.GroupNorm(8, 64),
        )
        self.gate = nn.Sequential(nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 64), nn.Sigmoid())
        self.up = nn.ConvTranspose2d(64, 32, 2, stride=2)
        self.head = nn.Linear(32, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = F.max_pool2d(self.stem(x), 3, stride=2, padding=1)
        x = torch.cat([self.one(x), self.three(x), self.five(F.avg_pool2d(x, 3, 1, 1))], dim=1)
        y = self.block(x)
        y = y * self.gate(y.mean(dim=(2, 3)))[:, :, None, None]
        y += x
        y = self.up(F.relu(y))
        y = F.interpolate(y, scale_factor=0.5, mode="bilinear")
        return self.head(torch.flatten(F.adaptive_avg_pool2d(y, 1), 1))


class Separable(nn.Module):
    """Inverted residual blocks with depthwise convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = self.unit(3, 16, 3, 2, 1, nn.ReLU6)
        self.blocks = nn.ModuleList(self.inverted(16) for _ in range(3))
        self.last = self.unit(16, 64, 1, 1, 1, nn.Hardswish)
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(64, 10)

    @staticmethod
    def unit(
        i: int, o: int, kernel: int, stride: int, groups: int, act: type[nn.Module]
    ) -> nn.Module:
        conv = nn.Conv2d(i, o, kernel, stride, kernel // 2, groups=groups, bias=False)
        return nn.Sequential(conv, nn.BatchNorm2d(o), act())

    def inverted(self, width: int) -> nn.Module:
        inner = 6 * width
        return nn.Sequential(
            self.unit(width, inner, 1, 1, 1, nn.ReLU6),
            self.unit(inner, inner, 3, 1, inner, nn.ReLU6),
            self.unit(inner, width, 1, 1, 1, nn.Identity),
        )

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = x + block(x)
        return self.head(self.dropout(self.last(x).mean([2, 3])))


class Recurrent(nn.Module):
    """A text classifier: two LSTM layers in both directions, then a GRU; the last state decides."""

    def __init__(self, cell: str = "lstm") -> None:
        super().__init__()
        self.embedding = nn.Embedding(1000, 64)
        self.lstm = nn.LSTM(64, 96, 2, batch_first=True, bidirectional=True, dropout=0.1)
        self.gru = nn.GRU(192, 128, batch_first=True)
        self.head = nn.Linear(128, 5)

    def forward(self, tokens: Tensor) -> Tensor:
        x, _ = self.lstm(self.embedding(tokens))
        _, state = self.gru(x)
        return self.head(state[-1])


class Encoder(nn.Module):
    """A transformer encoder with learned positions and a padding mask."""

    def __init__(self, width: int = 256, layers: int = 2, length: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(1000, width)
        self.positions = nn.Parameter(torch.zeros(1, length, width))
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, 7)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) + self.positions
        x = self.encoder(x, src_key_padding_mask=tokens == 0)
        return self.head(x[:, 0])


class Conv1D(nn.Module):
    """A linear layer whose weight is stored as [inputs, outputs], as OpenAI's GPT-2 has it."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))

    def forward(self, x: Tensor) -> Tensor:
        rows = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
        return rows.view(*x.shape[:-1], -1)


class GptBlock(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.ln_1 = nn.LayerNorm(width)
        self.c_attn = Conv1D(width, 3 * width)
        self.c_proj = Conv1D(width, width)
        self.ln_2 = nn.LayerNorm(width)
        self.c_fc = Conv1D(width, 4 * width)
        self.out = Conv1D(4 * width, width)
        self.dropout = nn.Dropout(0.1)

    def attend(self, x: Tensor) -> Tensor:
        q, k, v = (
            part.view(*part.shape[:2], self.heads, -1).transpose(1, 2)
            for part in self.c_attn(x).split(x.size(-1), dim=2)
        )
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1, is_causal=True)
        return self.dropout(self.c_proj(y.transpose(1, 2).contiguous().view(x.shape)))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attend(self.ln_1(x))
        y = self.c_fc(self.ln_2(x))
        inner = math.sqrt(2 / math.pi) * (y + 0.044715 * torch.pow(y, 3.0))
        y = 0.5 * y * (1.0 + torch.tanh(inner))
        return x + self.dropout(self.out(y))


class Gpt2(nn.Module):
    """Radford et al., 2019; the head is the embedding's own table."""

    def __init__(
        self, layers: int = 12, width: int = 768, heads: int = 12, seq: int = 1024
    ) -> None:
        super().__init__()
        self.wte = nn.Embedding(50257, width)
        self.wpe = nn.Embedding(1024, width)
        self.drop = nn.Dropout(0.1)
        self.h = nn.ModuleList(GptBlock(width, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, 50257, bias=False)
        self.lm_head.weight = self.wte.weight
        self.register_buffer("position_ids", torch.zeros(1, seq, dtype=torch.long))

    def forward(self, tokens: Tensor, labels: Tensor) -> dict[str, Tensor]:
        x = self.drop(self.wte(tokens) + self.wpe(self.position_ids))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1))
        return {"loss": loss, "logits": logits}


class RmsNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), self.weight, 1e-5)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    front, back = x.chunk(2, -1)
    return x * cos + torch.cat((-back, front), -1) * sin


class LlamaLayer(nn.Module):
    def __init__(self, width: int, heads: int, kv_heads: int, ffn: int) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, width // heads
        self.input_layernorm = RmsNorm(width)
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, kv_heads * self.size, bias=False)
        self.v_proj = nn.Linear(width, kv_heads * self.size, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)
        self.post_attention_layernorm = RmsNorm(width)
        self.gate_proj = nn.Linear(width, ffn, bias=False)
        self.up_proj = nn.Linear(width, ffn, bias=False)
        self.down_proj = nn.Linear(ffn, width, bias=False)

    def attend(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        batch, length, _ = x.shape

        def split(y: Tensor, heads: int) -> Tensor:
            return y.view(batch, length, heads, self.size).transpose(1, 2)

        q = rotate(split(self.q_proj(x), self.heads), cos, sin)
        k = rotate(split(self.k_proj(x), self.kv_heads), cos, sin)
        v = split(self.v_proj(x), self.kv_heads)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o_proj(y.transpose(1, 2).contiguous().view(batch, length, -1))

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.attend(self.input_layernorm(x), cos, sin)
        y = self.post_attention_layernorm(x)
        return x + self.down_proj(F.silu(self.gate_proj(y)) * self.up_proj(y))


class Llama(nn.Module):
    """Touvron et al., 2023; the sizes are those of the 70B model unless given."""

    def __init__(
        self,
        layers: int = 80,
        width: int = 8192,
        heads: int = 64,
        kv_heads: int = 8,
        ffn: int = 28672,
        vocab: int = 32000,
        seq: int = 4096,
    ) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(LlamaLayer(width, heads, kv_heads, ffn) for _ in range(layers))
        self.norm = RmsNorm(width)
        self.lm_head = nn.Linear(width, vocab, bias=False)
        self.register_buffer("cos", torch.empty(1, 1, seq, width // heads))
        self.register_buffer("sin", torch.empty(1, 1, seq, width // heads))

    def forward(self, tokens: Tensor, labels: Tensor) -> Tensor:
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        logits = self.lm_head(self.norm(x))
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def parameter_count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
