"""Networks: one file for each, with PyTorch; `recombine.solvers.networks.images` names those that look at pictures."""
