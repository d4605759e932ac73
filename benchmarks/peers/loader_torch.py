"""Epochs of PyTorch's DataLoader, for `benchmarks/loader.py`: reads cases, answers each when its epoch is over.

The transforms are written in torch's operations, and in NumPy's; both on uint8, with no more work than is needed.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import numpy
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Torch(Dataset):
    """Images as tensors (channels, height, width)."""

    def __init__(self, images: numpy.ndarray, pad: int, mean: list[float], std: list[float]) -> None:
        self.images = torch.from_numpy(images.transpose(0, 3, 1, 2).copy())
        self.labels = torch.arange(len(images))
        self.pad, self.size = pad, images.shape[1]
        self.mean, self.std = (torch.tensor(v).view(-1, 1, 1) for v in (mean, std))

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, i: int) -> Any:
        x = F.pad(self.images[i], (self.pad,) * 4)
        top, left = random.randint(0, 2 * self.pad), random.randint(0, 2 * self.pad)
        x = x[:, top : top + self.size, left : left + self.size]
        if random.random() < 0.5:
            x = x.flip(-1)
        return x.to(torch.float32).div_(255).sub_(self.mean).div_(self.std), self.labels[i]


class Numpy(Dataset):
    """Images as NumPy's arrays (height, width, channels), which become tensors in the end."""

    def __init__(self, images: numpy.ndarray, pad: int, mean: list[float], std: list[float]) -> None:
        self.images, self.labels = images, numpy.arange(len(images))
        self.pad, self.size = pad, images.shape[1]
        self.mean, self.std = (numpy.array(v, "float32") for v in (mean, std))

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, i: int) -> Any:
        p, n = self.pad, self.size
        x = numpy.zeros((n + 2 * p, n + 2 * p, self.images.shape[3]), "uint8")
        x[p : p + n, p : p + n] = self.images[i]
        top, left = random.randint(0, 2 * p), random.randint(0, 2 * p)
        x = x[top : top + n, left : left + n]
        if random.random() < 0.5:
            x = x[:, ::-1]
        y = x.astype("float32")
        y /= 255
        y -= self.mean
        y /= self.std
        return torch.from_numpy(y.transpose(2, 0, 1)), int(self.labels[i])


def main() -> None:
    torch.set_num_threads(2)
    made: dict[str, Any] = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in made:
            kind, count, size, channels, pad, workers, batch = name.split()
            shape = int(count), int(size), int(size), int(channels)
            images = numpy.random.default_rng(0).integers(0, 256, shape, "uint8")
            mean, std = [0.4] * int(channels), [0.2] * int(channels)
            data = {"torch": Torch, "numpy": Numpy}[kind](images, int(pad), mean, std)
            stay = int(workers) > 0
            made[name] = DataLoader(data, int(batch), shuffle=True, num_workers=int(workers), persistent_workers=stay)
        total = 0.0
        for x, _ in made[name]:
            total += x[0, 0, 0, 0].item()
        print("done", flush=True)


if __name__ == "__main__":
    main()
