"""The networks in PyTorch."""

from __future__ import annotations

from typing import Any

import torch
from networks import HEADS, LAYERS, RESIDUALS
from torch import nn


class Residual(nn.Module):
    def __init__(self, ins: int, width: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(ins, width, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(width)
        self.short = nn.Conv2d(ins, width, 1, stride, bias=False) if ins != width else None

    def forward(self, x: Any) -> Any:
        y = self.norm2(self.second(torch.relu(self.norm1(self.first(x)))))
        return torch.relu(y + (self.short(x) if self.short is not None else x))


class Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Any, mask: Any) -> Any:
        n, steps, width = x.shape
        heads = lambda a: a.reshape(n, steps, HEADS, width // HEADS).transpose(1, 2)
        q, k, v = map(heads, self.qkv(self.norm1(x)).split(width, -1))
        scores = q @ k.transpose(2, 3) * (width // HEADS) ** -0.5 + mask
        x = x + self.out((torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(n, steps, width))
        return x + self.down(torch.relu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, words: int, width: int, steps: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.layers = nn.ModuleList([Layer(width) for _ in range(LAYERS)])
        self.last = nn.Linear(width, words)
        self.mask = torch.triu(torch.full((steps, steps), -1e9), 1)

    def forward(self, x: Any) -> Any:
        x = self.embedding(x)
        for layer in self.layers:
            x = layer(x, self.mask)
        return self.last(x)


class Lstm(nn.Module):
    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.steps = nn.LSTM(width, width, 2)
        self.last = nn.Linear(width, words)

    def forward(self, x: Any) -> Any:
        return self.last(self.steps(self.embedding(x))[0])


NETWORKS = {
    "lenet": lambda: nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(6, 16, 5), nn.ReLU(),
        nn.MaxPool2d(2, 2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
        nn.Linear(84, 10),
    ),
    "resnet": lambda: nn.Sequential(
        nn.Conv2d(1, 32, 3, 1, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
        *(Residual(*sizes) for sizes in RESIDUALS), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 10),
    ),
    "lstm": lambda: Lstm(1000, 256),
    "transformer": lambda: Transformer(256, 128, 64),
}  # fmt: skip
