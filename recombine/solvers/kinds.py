"""The kinds of CURI's networks, by name, for those who do without PyTorch."""

MODALITIES = ("schema", "image", "sound")
"""How scenes are seen."""
POOLINGS = ("avg-pool", "concat", "relation-net", "transformer")
"""How a set of objects becomes a vector."""
PICTURE = (240, 160)
"""The width and height of CURI's pictures."""
