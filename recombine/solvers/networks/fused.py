"""Networks that only look: what comes after a convolution is made a part of it."""

from copy import deepcopy
from itertools import pairwise
from typing import TypeVar

from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

Network = TypeVar("Network", bound=nn.Module)


def fused(network: Network) -> Network:
    """A copy that says the same, sooner, and learns nothing more."""
    made = deepcopy(network).eval()
    for block in made.modules():
        if isinstance(block, nn.Sequential):
            for (name, first), (after, second) in pairwise([*block.named_children()]):
                if isinstance(first, nn.Conv2d) and isinstance(second, nn.BatchNorm2d):
                    setattr(block, name, fuse_conv_bn_eval(first, second))
                    setattr(block, after, nn.Identity())
    return made
