"""mDETR: the cheapest matching, what nothing is lost on, one answer in any company, and which words speak of what."""

from itertools import permutations

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

import torch

from recombine.solvers.assignment import assigned
from recombine.solvers.grounding import Grounding, Naming, names_in
from recombine.solvers.networks.cells import Cells, CellShape
from recombine.solvers.networks.mdetr import AnswerKinds, Found, Mdetr, MdetrPlan, Targets, found_loss
from recombine.solvers.programs import NULL
from recombine.solvers.training.seeding import seeded
from recombine.store.key import Key

KINDS = AnswerKinds((0, 1), (2, 3, 4), (5, 6, 7, 8))
SHAPE = CellShape(3, 4, (32, 48), pixels=True, widths=(8, 8, 16, 16))


def network() -> Mdetr:
    with seeded(Key(2)):
        return Mdetr(MdetrPlan(20, KINDS, SHAPE, width=32, inner=32, text=(32, 1, 2, 32), queries=6, longest=12))


def batch(n: int = 6) -> tuple[torch.Tensor, torch.Tensor, Cells, Targets]:
    with seeded(Key(5)):
        length = torch.randint(3, 9, (n,))
        word = torch.randint(4, 20, (n, 8)) * (torch.arange(8) < length[:, None])
        low = torch.rand(n, 3, 2) * 0.5
        boxes = torch.cat([low, low + 0.1 + 0.4 * torch.rand(n, 3, 2)], dim=-1)
        links = torch.zeros(n, 3, 8, dtype=torch.bool)
        links[:, 0, 0], links[:, 1, 1:3] = True, True  # the third is not spoken of
        return word, length, Cells(torch.rand(n, 3, 32, 48), boxes), Targets(links, boxes)


def test_the_matching_is_the_cheapest() -> None:
    rng = np.random.default_rng(0)
    cost, wanted = rng.normal(size=(40, 6, 4)), rng.random((40, 4)) < 0.7
    for price, want, found in zip(cost, wanted, assigned(cost, wanted)):
        there = np.flatnonzero(want)
        assert (found[~want] == -1).all() and len({*found[there]}) == len(there)
        least = min(sum(price[p, t] for p, t in zip(some, there)) for some in permutations(range(6), len(there)))
        assert price[found[there], there].sum() == pytest.approx(least)


def test_who_finds_everything_loses_next_to_nothing_and_in_any_order() -> None:
    _, _, _, targets = batch()
    n, queries, width = 6, 6, 13
    tokens, near = torch.full((n, queries, width), -40.0), torch.full((n, queries, 8), -40.0)
    boxes = torch.rand(n, queries, 4)
    tokens[..., -1] = 40.0
    for query, thing in ((4, 0), (1, 1)):
        boxes[:, query] = targets.boxes[:, thing]
        tokens[:, query, -1] = -40.0
        tokens[:, query, :8] = torch.where(targets.links[:, thing], 40.0, -40.0)
        near[:, query] = torch.where(targets.links[:, thing], 40.0, -40.0)
    lost = found_loss(Found(boxes, tokens, near), targets)
    mixed = torch.randperm(queries)
    again = found_loss(Found(boxes[:, mixed], tokens[:, mixed], near[:, mixed]), targets)
    assert float(lost) == pytest.approx(float(again), rel=1e-5)
    unsure = 2 * np.log(2) / 2 * 1.5  # two words of one name are equally likely, whoever finds it
    assert float(lost) < unsure
    boxes = boxes.clone()
    boxes[:, 4] = torch.tensor([0.9, 0.9, 1.0, 1.0])
    assert found_loss(Found(boxes, tokens, near), targets) > lost + 1


def test_a_question_is_answered_in_company_as_alone_and_pictures_are_shared() -> None:
    word, length, cells, _ = batch()
    one = network().eval()
    with torch.no_grad():
        said = one(word, length, cells)
        alone = torch.cat([one(word[[i], : length[i]], length[[i]], cells.rows(torch.tensor([i]))) for i in range(6)])
        torch.testing.assert_close(said, alone, atol=1e-4, rtol=1e-4)
        shared = one(word, length, Cells(cells.features[:2], cells.place[:2], None, torch.tensor([0, 1, 0, 1, 1, 0])))
        torch.testing.assert_close(shared[:2], said[:2], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(said.exp().sum(dim=1), torch.ones(6))


def test_it_learns_to_find_and_to_answer() -> None:
    word, length, cells, targets = batch()
    one, answer = network().train(), torch.tensor([0, 1, 2, 4, 5, 8])
    optimiser = torch.optim.AdamW(one.parameters(), 3e-3)
    losses = []
    for _ in range(60):
        optimiser.zero_grad()
        lost = one.loss(word, length, cells, targets, answer)
        lost.backward()
        optimiser.step()
        losses.append(lost.item())
    assert losses[-1] < 0.6 * losses[0]
    assert (one.eval()(word, length, cells).argmax(dim=1) == answer).float().mean() > 0.8
    assert one.located(word, length, cells, targets).shape == (12,)


def test_to_find_alone_teaches_no_answer() -> None:
    one, asked = network().train(), batch()
    one.loss(*asked, None).backward()
    assert all(parameter.grad is None for parameter in one.answers.parameters()) and one.box[0].weight.grad is not None


def test_names_are_adjectives_and_a_noun_and_nouns_alone_say_nothing() -> None:
    naming = Naming({(4,): 40, (5,): 50}, {(6,): 60, (7, 8): 70, (9,): NULL})
    found = [*names_in([1, 4, 5, 6, 2, 7, 8, 9, 4, 9, 5], naming)]
    assert [(one.start, one.end, sorted(one.said)) for one in found] == [
        (1, 4, [40, 50, 60]),
        (5, 7, [70]),
        (8, 10, [40]),
    ]


def test_words_are_linked_to_objects_and_who_is_named_twice_is_known() -> None:
    start, end = np.array([[0, 3], [1, -1]], np.int8), np.array([[2, 4], [2, -1]], np.int8)
    one = Grounding(start, end, np.array([[0b101, 0b100], [0b10, 0]], np.uint16))
    links = one.words(np.array([0, 1]), 3, 5)
    assert links[0].tolist() == [[True, True, False, False, False], [False] * 5, [True, True, False, True, False]]
    assert links[1].nonzero() and links[1].sum() == 1 and one.once().tolist() == [False, True]
