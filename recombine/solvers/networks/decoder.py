"""The concept decoder: from the two prototypes of an episode it writes the concept, word by word."""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from recombine.solvers.text import END, PAD

WIDTH = 128
DROPPED = 0.1


class ConceptDecoder(nn.Module):
    """One LSTM layer that is shown the prototypes at every word and begins from them."""

    def __init__(self, prototypes: int, words: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, WIDTH, padding_idx=PAD)
        self.dropout = nn.Dropout(DROPPED)
        self.lstm = nn.LSTM(prototypes + WIDTH, WIDTH, batch_first=True)
        self.beginning = nn.Linear(prototypes, WIDTH)
        self.saying = nn.Linear(WIDTH, words)

    def forward(self, prototypes: Tensor, words: Tensor) -> Tensor:
        """The scores of every next word: float[e, p], int64[e, t] -> float[e, t, words]. A text begins with END."""
        said, _ = self._go_on(prototypes, self._shifted(words), self._state(prototypes))
        return said

    def loss(self, prototypes: Tensor, words: Tensor) -> Tensor:
        """The mean surprise per word, the end included. In whole precision: not every machine has a mixed LSTM."""
        with torch.autocast(prototypes.device.type, enabled=False):
            said = self(prototypes.float(), words)
        return cross_entropy(said.flatten(0, 1), words.flatten(), ignore_index=PAD)

    @torch.no_grad()
    def write(self, prototypes: Tensor, longest: int) -> Tensor:
        """The most likely next word again and again, int64[e, longest], PAD after the end."""
        state, word = self._state(prototypes), torch.full((len(prototypes), 1), END, device=prototypes.device)
        over = torch.zeros(len(prototypes), dtype=torch.bool, device=prototypes.device)
        text = []
        for _ in range(longest):
            said, state = self._go_on(prototypes, word, state)
            word = said.argmax(dim=-1)
            over |= word[:, 0] == END
            text.append(word[:, 0].masked_fill(over, PAD))
        return torch.stack(text, dim=1)

    def _state(self, prototypes: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.beginning(prototypes)[None]
        return hidden, torch.zeros_like(hidden)

    def _go_on(
        self, prototypes: Tensor, words: Tensor, state: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        heard = self.dropout(self.words(words))
        shown = prototypes[:, None].expand(-1, words.shape[1], -1)
        out, state = self.lstm(torch.cat([heard, shown], dim=-1), state)
        return self.saying(out), state

    def _shifted(self, words: Tensor) -> Tensor:
        return torch.cat([torch.full_like(words[:, :1], END), words[:, :-1]], dim=1)
