"""Questions, word by word: a recurrent network from one side or both."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from recombine.solvers.text import PAD

KINDS = {"lstm": nn.LSTM, "gru": nn.GRU}


class Words(nn.Module):
    """Questions to a vector for every word and one for the whole."""

    def __init__(
        self, words: int, word: int, hidden: int, both: bool = True, layers: int = 1, kind: str = "lstm"
    ) -> None:
        super().__init__()
        self.table = nn.Embedding(words, word, padding_idx=PAD)
        self.hidden, self.both = hidden, both
        self.size = 2 * hidden if both else hidden
        self.rnn = KINDS[kind](word, hidden, layers, batch_first=True, bidirectional=both)

    def forward(self, word: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
        """int64[n, t], int64[n] -> float[n, t, size], zero behind the end; float[n, size]: the last state of each side.

        In whole precision: not every machine has a mixed LSTM.
        """
        with torch.autocast(word.device.type, enabled=False):
            told = self.table(word)
            if bool((length == word.shape[1]).all()):  # questions of one length need not be packed
                out = self.rnn(told)[0]
            else:
                packed = pack_padded_sequence(told, length.cpu(), batch_first=True, enforce_sorted=False)
                out, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True, total_length=word.shape[1])
        end = out[torch.arange(len(out), device=out.device), length - 1]
        if not self.both:
            return out, end
        return out, torch.cat([end[:, : self.hidden], out[:, 0, self.hidden :]], dim=1)


def spoken(word: Tensor, length: Tensor) -> Tensor | None:
    """Which places hold a word, bool[n, t]; None where all do."""
    if bool((length == word.shape[1]).all()):
        return None
    return torch.arange(word.shape[1], device=word.device) < length[:, None]
