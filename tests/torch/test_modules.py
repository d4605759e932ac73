"""Parameters of modules, frozen and thawed."""

from forerun import torch
from forerun.torch import nn


def test_frozen_parameters_are_not_trained_until_they_are_thawed():
    net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    x = torch.ones(4, 2)

    def trained():
        before = [p.tolist() for p in net.parameters()]
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        net(x).sum().backward()
        optimizer.step()
        return [p.tolist() != values for p, values in zip(net.parameters(), before)]

    net[0].requires_grad_(False)
    assert [p.requires_grad for p in net.parameters()] == [False, False, True, True]
    assert trained() == [False, False, True, True]
    for p in net.parameters():
        p.requires_grad = not p.requires_grad
    assert [p.requires_grad for p in net.parameters()] == [True, True, False, False]
    assert trained() == [True, True, False, False]
    assert all(p.is_leaf for p in net.parameters())
    assert not nn.Parameter(x, False).requires_grad
    net.extra = net[1].weight  # frozen, and still a parameter
    assert "extra" in net.state_dict()
