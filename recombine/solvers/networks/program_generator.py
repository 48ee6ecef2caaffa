"""The program generator: it reads a question and writes its program, token by token, in prefix order.

A biLSTM reads; an LSTM writes and at every token attends to the words, by additive attention; what it attends to goes
into the LSTM with the token before. On one thread of a CPU the loop over tokens and its way back are done by hand: what
a token brings to the gates is looked up, and the gradients of the weights are one product for all tokens.
`plain_decode` says the same plainly.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, embedding, linear

from recombine.solvers.networks.lstm import Words, spoken
from recombine.solvers.programs import END, NULL, START

LONGEST = 30
"""Tokens that are written at most, the end included."""
NEVER = -1e9
"""The score of a word that is not there."""


@dataclass(frozen=True)
class GeneratorPlan:
    """What decides a generator."""

    words: int
    tokens: int
    word: int = 128
    hidden: int = 128
    layers: int = 1
    attention: int = 128

    @classmethod
    def paper(cls, words: int, tokens: int) -> "GeneratorPlan":
        return cls(words, tokens, word=300, hidden=256, layers=2, attention=256)


class ProgramGenerator(nn.Module):
    """Words to tokens. The writer is as wide as the two readers together."""

    def __init__(self, plan: GeneratorPlan) -> None:
        super().__init__()
        self.plan = plan
        self.reader = Words(plan.words, plan.word, plan.hidden, layers=plan.layers)
        width = 2 * plan.hidden
        self.table = nn.Embedding(plan.tokens, plan.word, padding_idx=NULL)
        self.begin = nn.Linear(width, width)
        self.keys = nn.Linear(width, plan.attention)
        self.asks = nn.Linear(width, plan.attention, bias=False)
        self.weigh = nn.Linear(plan.attention, 1, bias=False)
        self.told = nn.Linear(plan.word, 4 * width)
        self.gates = nn.Linear(2 * width, 4 * width, bias=False)
        self.above = nn.LSTM(width, width, plan.layers - 1, batch_first=True) if plan.layers > 1 else None
        self.saying = nn.Linear(2 * width, plan.tokens)

    def read(self, word: Tensor, length: Tensor) -> "Reading":
        """What the writer attends to."""
        values, whole = self.reader(word, length)
        with torch.autocast(word.device.type, enabled=False):
            start = torch.tanh(self.begin(whole))
            return Reading(values, self.keys(values), spoken(word, length), start)

    def forward(self, word: Tensor, length: Tensor, token: Tensor) -> Tensor:
        """The scores of every token of these programs, given those before: float[n, t, tokens]."""
        reading = self.read(word, length)
        shown = torch.cat([torch.full_like(token[:, :1], START), token[:, :-1]], dim=1)
        with torch.autocast(word.device.type, enabled=False):
            by_hand = word.device.type == "cpu" and torch.is_grad_enabled()
            hidden, context = (by_hand_decode if by_hand else plain_decode)(self, reading, shown)
            if self.above is not None:
                hidden = self.above(hidden)[0]
            return self.saying(torch.cat([hidden, context], dim=-1))

    def loss(self, word: Tensor, length: Tensor, token: Tensor) -> Tensor:
        """The mean surprise per token, END included: programs are int64[n, t] with END, then NULL."""
        said = self(word, length, token)
        return cross_entropy(said.flatten(0, 1), token.flatten(), ignore_index=NULL)

    def log_likelihood(self, word: Tensor, length: Tensor, token: Tensor) -> Tensor:
        """The logarithm of the probability of each program, float[n]."""
        said = torch.log_softmax(self(word, length, token), dim=-1)
        chosen = said.gather(2, token[..., None])[..., 0]
        return chosen.masked_fill(token == NULL, 0).sum(dim=1)

    @torch.no_grad()
    def write(self, word: Tensor, length: Tensor, longest: int = LONGEST, draw: bool = False) -> Tensor:
        """Programs with END, then NULL, int64[n, at most longest]: the likeliest token, or one that is drawn."""
        reading = self.read(word, length)
        step = _Step(self, reading)
        last = torch.full((len(word),), START, device=word.device)
        over, texts = torch.zeros(len(word), dtype=torch.bool, device=word.device), []
        for _ in range(longest):
            score = step(last)
            last = torch.multinomial(score.softmax(dim=-1), 1)[:, 0] if draw else score.argmax(dim=-1)
            texts.append(last.masked_fill(over, NULL))
            over = over | (last == END)
            if bool(over.all()):
                break
        return torch.stack(texts, dim=1)

    @torch.no_grad()
    def look(self, word: Tensor, length: Tensor, longest: int = LONGEST) -> tuple[Tensor, Tensor]:
        """The likeliest programs, and for every token the attention to words, float[n, t, s]."""
        token, step, seen = self.write(word, length, longest), _Step(self, self.read(word, length)), []
        for last in torch.cat([torch.full_like(token[:, :1], START), token[:, :-1]], dim=1).unbind(dim=1):
            seen.append(_attention(self, step.reading, step.hidden))
            step(last)
        return token, torch.stack(seen, dim=1)


class Reading(NamedTuple):
    """A question that was read."""

    values: Tensor  # float[n, s, width]
    keys: Tensor  # float[n, s, attention]
    spoken: Tensor | None  # bool[n, s]: which words there are; None where there are all
    start: Tensor  # float[n, width]: the first hidden state


class _Step:
    """The writer, one token after the other."""

    def __init__(self, network: ProgramGenerator, reading: Reading) -> None:
        self.network, self.reading = network, reading
        self.hidden, self.cell = reading.start, torch.zeros_like(reading.start)
        self.above: tuple[Tensor, Tensor] | None = None

    def __call__(self, token: Tensor) -> Tensor:
        """The scores of the next token, float[n, tokens]."""
        told = self.network.told(self.network.table(token))
        self.hidden, self.cell, context = _next(self.network, self.reading, told, self.hidden, self.cell)
        out = self.hidden
        if self.network.above is not None:
            found, self.above = self.network.above(out[:, None], self.above)
            out = found[:, 0]
        scores: Tensor = self.network.saying(torch.cat([out, context], dim=-1))
        return scores


def _next(
    network: ProgramGenerator, reading: Reading, told: Tensor, hidden: Tensor, cell: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    context = torch.bmm(_attention(network, reading, hidden)[:, None], reading.values)[:, 0]
    enter, forget, new, leave = (told + network.gates(torch.cat([context, hidden], dim=1))).chunk(4, dim=1)
    cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
    return leave.sigmoid() * cell.tanh(), cell, context


def _attention(network: ProgramGenerator, reading: Reading, hidden: Tensor) -> Tensor:
    """How much each word is attended to, float[n, s]."""
    score: Tensor = network.weigh(torch.tanh(reading.keys + network.asks(hidden)[:, None]))[..., 0]
    if reading.spoken is not None:
        score = score.masked_fill(~reading.spoken, NEVER)
    return score.softmax(dim=-1)


def plain_decode(network: ProgramGenerator, reading: Reading, shown: Tensor) -> tuple[Tensor, Tensor]:
    """The states and contexts after the tokens that are shown, float[n, t, width] each, step by step."""
    hidden, cell, found = reading.start, torch.zeros_like(reading.start), []
    for told in network.told(network.table(shown)).unbind(dim=1):
        hidden, cell, context = _next(network, reading, told, hidden, cell)
        found.append((hidden, context))
    states, contexts = zip(*found)
    return torch.stack(states, dim=1), torch.stack(contexts, dim=1)


def by_hand_decode(network: ProgramGenerator, reading: Reading, shown: Tensor) -> tuple[Tensor, Tensor]:
    """The same, by hand."""
    told = embedding(shown.T, linear(network.table.weight, network.told.weight, network.told.bias))
    away = None if reading.spoken is None else (~reading.spoken).float() * NEVER
    states, contexts = _Decode.apply(
        told,
        reading.values,
        reading.keys,
        away,
        network.asks.weight.T,
        network.weigh.weight[0],
        network.gates.weight.T,
        reading.start,
    )
    return states.transpose(0, 1), contexts.transpose(0, 1)


class _Decode(torch.autograd.Function):
    """told: float[t, n, 4 h]; values: float[n, s, v]; keys: float[n, s, a]; away: float[n, s], added to the scores;
    asks: float[h, a]; weigh: float[a]; gates: float[v + h, 4 h]; start: float[n, h].

    tanh(x) is 2 sigmoid(2x) - 1, which is several times faster on a CPU. In the attention the constant makes no
    difference, so `looked` are the sigmoids alone; in the gates the third quarter is doubled, so that one sigmoid
    does for all four.
    """

    @staticmethod
    def forward(ctx: Any, told, values, keys, away, asks, weigh, gates, start):  # type: ignore[no-untyped-def]
        steps, n, _ = told.shape
        (_, s, v), h, a = values.shape, start.shape[1], keys.shape[2]
        keys2, asks2, weigh2, gates2 = 2 * keys, 2 * asks, 2 * weigh, _doubled(gates)
        active = _doubled(told)  # becomes the sigmoids of the gates
        looked, attention = told.new_empty(steps, n, s, a), told.new_empty(steps, n, s)
        seen = told.new_empty(steps, n, v + h)  # context and the state before
        cells, squashed, states = (told.new_empty(steps, n, h) for _ in range(3))
        hidden, cell = start, torch.zeros_like(start)
        for t in range(steps):
            torch.add(keys2, (hidden @ asks2)[:, None], out=looked[t]).sigmoid_()
            score = torch.mv(looked[t].view(-1, a), weigh2).view(n, s)
            torch.softmax(score if away is None else score.add_(away), dim=1, out=attention[t])
            seen[t, :, :v] = torch.bmm(attention[t, :, None], values)[:, 0]
            seen[t, :, v:] = hidden
            now = active[t].addmm_(seen[t], gates2).sigmoid_()
            enter, forget, new, leave = now.chunk(4, dim=1)
            torch.mul(enter, new, out=cells[t]).mul_(2).sub_(enter).addcmul_(forget, cell)
            torch.mul(cells[t], 2, out=squashed[t]).sigmoid_().mul_(2).sub_(1)
            torch.mul(leave, squashed[t], out=states[t])
            hidden, cell = states[t], cells[t]
        ctx.save_for_backward(values, asks2, weigh2, gates2, start, active, looked, attention, seen, cells, squashed)
        return states, seen[:, :, :v].clone()

    @staticmethod
    def backward(ctx: Any, to_states, to_contexts):  # type: ignore[no-untyped-def]
        values, asks2, weigh2, gates2, start, active, looked, attention, seen, cells, squashed = ctx.saved_tensors
        steps, n, s, a = looked.shape
        v = values.shape[2]
        back, contexts = torch.empty_like(active), to_contexts.clone()
        asked, scores = looked.new_empty(steps, n, a), looked.new_empty(steps, n, s)
        to_keys, to_hidden, to_cell = looked.new_zeros(n, s, a), torch.zeros_like(start), torch.zeros_like(start)
        gates_back, asks_back = gates2.T, asks2.T
        for t in range(steps - 1, -1, -1):
            to_hidden = to_hidden + to_states[t]
            enter, forget, new, leave = active[t].chunk(4, dim=1)
            to_enter, to_forget, to_new, to_leave = back[t].chunk(4, dim=1)
            to_cell = torch.addcmul(to_cell, to_hidden * leave, 1 - squashed[t].square())
            torch.mul(to_cell, 2 * new - 1, out=to_enter)
            torch.mul(to_cell, cells[t - 1] if t else torch.zeros_like(start), out=to_forget)
            torch.mul(to_cell, enter, out=to_new).mul_(2)
            torch.mul(to_hidden, squashed[t], out=to_leave)
            torch.ops.aten.sigmoid_backward.grad_input(back[t], active[t], grad_input=back[t])
            to_cell = to_cell * forget
            to_seen = back[t] @ gates_back
            contexts[t] += to_seen[:, :v]
            to_attention = torch.bmm(values, contexts[t][:, :, None])[..., 0]
            torch.ops.aten._softmax_backward_data.out(
                to_attention, attention[t], 1, to_attention.dtype, grad_input=scores[t]
            )
            to_looked = scores[t][..., None] * weigh2
            torch.ops.aten.sigmoid_backward.grad_input(to_looked, looked[t], grad_input=to_looked)
            to_keys += to_looked
            torch.sum(to_looked, dim=1, out=asked[t])
            to_hidden = to_seen[:, v:].addmm(asked[t], asks_back)
        flat = back.view(steps * n, -1)
        to_gates = seen.view(steps * n, -1).T @ flat
        to_asks = seen.view(steps * n, -1)[:, v:].T @ asked.view(steps * n, a)
        to_values = torch.bmm(attention.permute(1, 2, 0), contexts.transpose(0, 1))
        to_weigh = scores.view(-1) @ looked.view(-1, a)
        return (
            _doubled(back),
            to_values,
            2 * to_keys,
            None,
            2 * to_asks,
            2 * to_weigh,
            _doubled(to_gates),
            to_hidden,
        )


def _doubled(gates: Tensor) -> Tensor:
    """The same with its third quarter, that of what is new, twice as large."""
    scale = gates.new_ones(4, gates.shape[-1] // 4)
    scale[2] = 2
    return gates * scale.flatten()
