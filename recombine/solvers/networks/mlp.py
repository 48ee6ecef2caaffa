"""The multi-layer perceptron: all pixels at once, one hidden layer."""

from torch import Tensor, nn

WIDTH = 128


class Mlp(nn.Module):
    """An input layer, one hidden layer and an output layer; the two inner ones are equally wide."""

    def __init__(self, side: int, classes: int, width: int = WIDTH) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(),
            nn.Linear(3 * side * side, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, classes),
        )

    def forward(self, images: Tensor) -> Tensor:  # float[n, 3, side, side] -> float[n, classes]
        return self.layers(images)
