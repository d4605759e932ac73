"""The networks in Gluon, for forerun and for MXNet."""

from __future__ import annotations

from typing import Any

import numpy
from networks import HEADS, LAYERS, RESIDUALS


def networks(package: Any) -> Any:
    """Functions that make them of a package's layers."""
    np, npx, nn, rnn = package.np, package.npx, package.gluon.nn, package.gluon.rnn

    class Residual(nn.HybridBlock):
        def __init__(self, ins: int, width: int, stride: int) -> None:
            super().__init__()
            self.first = nn.Conv2D(width, 3, stride, 1, in_channels=ins, use_bias=False)
            self.norm1 = nn.BatchNorm(in_channels=width)
            self.second = nn.Conv2D(width, 3, 1, 1, in_channels=width, use_bias=False)
            self.norm2 = nn.BatchNorm(in_channels=width)
            self.short = nn.Conv2D(width, 1, stride, in_channels=ins, use_bias=False) if ins != width else None

        def forward(self, x: Any) -> Any:
            y = self.norm2(self.second(npx.relu(self.norm1(self.first(x)))))
            return npx.relu(y + (self.short(x) if self.short is not None else x))

    class Layer(nn.HybridBlock):
        def __init__(self, width: int) -> None:
            super().__init__()
            dense = lambda i, o, **more: nn.Dense(o, in_units=i, flatten=False, **more)
            self.norm1 = nn.LayerNorm(in_channels=width)
            self.qkv, self.out = dense(width, 3 * width), dense(width, width)
            self.norm2 = nn.LayerNorm(in_channels=width)
            self.up, self.down = dense(width, 4 * width, activation="relu"), dense(4 * width, width)

        def forward(self, x: Any, mask: Any) -> Any:
            n, steps, width = x.shape
            heads = lambda a: a.reshape(n, steps, HEADS, width // HEADS).transpose(0, 2, 1, 3)
            q, k, v = map(heads, np.split(self.qkv(self.norm1(x)), 3, axis=-1))
            scores = np.matmul(q, k.transpose(0, 1, 3, 2)) * (width // HEADS) ** -0.5 + mask
            y = np.matmul(npx.softmax(scores, axis=-1), v).transpose(0, 2, 1, 3).reshape(n, steps, width)
            x = x + self.out(y)
            return x + self.down(self.up(self.norm2(x)))

    class Transformer(nn.HybridBlock):
        def __init__(self, words: int, width: int, steps: int) -> None:
            super().__init__()
            self.embedding = nn.Embedding(words, width)
            self.layers = nn.HybridSequential()
            for _ in range(LAYERS):
                self.layers.add(Layer(width))
            self.last = nn.Dense(words, in_units=width, flatten=False)
            self.mask = np.array(numpy.triu(numpy.full((steps, steps), -1e9, "float32"), 1))

        def forward(self, x: Any) -> Any:
            x = self.embedding(x)
            for i in range(LAYERS):
                x = self.layers[i](x, self.mask)
            return self.last(x)

    class Lstm(nn.HybridBlock):
        def __init__(self, words: int, width: int) -> None:
            super().__init__()
            self.embedding = nn.Embedding(words, width)
            self.steps = rnn.LSTM(width, 2, input_size=width)
            self.last = nn.Dense(words, in_units=width, flatten=False)

        def forward(self, x: Any) -> Any:
            return self.last(self.steps(self.embedding(x)))

    def in_order(*layers: Any) -> Any:
        net = nn.HybridSequential()
        net.add(*layers)
        return net

    return {
        "lenet": lambda: in_order(
            nn.Conv2D(6, 5, padding=2, activation="relu", in_channels=1), nn.MaxPool2D(2, 2),
            nn.Conv2D(16, 5, activation="relu", in_channels=6), nn.MaxPool2D(2, 2), nn.Flatten(),
            nn.Dense(120, activation="relu", in_units=400), nn.Dense(84, activation="relu", in_units=120),
            nn.Dense(10, in_units=84),
        ),
        "resnet": lambda: in_order(
            nn.Conv2D(32, 3, 1, 1, in_channels=1, use_bias=False), nn.BatchNorm(in_channels=32),
            nn.Activation("relu"), *(Residual(*sizes) for sizes in RESIDUALS), nn.GlobalAvgPool2D(), nn.Flatten(),
            nn.Dense(10, in_units=256),
        ),
        "lstm": lambda: Lstm(1000, 256),
        "transformer": lambda: Transformer(256, 128, 64),
    }  # fmt: skip
