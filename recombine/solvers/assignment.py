"""The cheapest assignment: every target gets a place of its own, so that the costs have the smallest sum."""

import numpy as np

from recombine.store.compiled import compiled


@compiled
def assigned(cost: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """For a batch: the place of every target that is wanted, else -1, int64[n, targets].

    `cost`: float64[n, places, targets]; `wanted`: bool[n, targets]; there are at least as many places as targets. By
    shortest augmenting paths: each target in turn takes a place, and those before it move where that is cheaper.
    """
    n, places, targets = cost.shape
    found = np.full((n, targets), -1, np.int64)
    for batch in range(n):
        of_target, of_place = np.zeros(targets + 1), np.zeros(places + 1)
        holder = np.full(places + 1, -1, np.int64)  # which target holds a place; the last place is the way in
        before = np.zeros(places + 1, np.int64)
        for target in range(targets):
            if not wanted[batch, target]:
                continue
            holder[places] = target
            at = places
            least, done = np.full(places + 1, np.inf), np.zeros(places + 1, np.bool_)
            while holder[at] >= 0:
                done[at] = True
                who, next_, delta = holder[at], -1, np.inf
                for place in range(places):
                    if done[place]:
                        continue
                    price = cost[batch, place, who] - of_target[who] - of_place[place]
                    if price < least[place]:
                        least[place], before[place] = price, at
                    if least[place] < delta:
                        delta, next_ = least[place], place
                for place in range(places + 1):
                    if done[place]:
                        of_target[holder[place]] += delta
                        of_place[place] -= delta
                    else:
                        least[place] -= delta
                at = next_
            while at != places:
                holder[at] = holder[before[at]]
                at = before[at]
        for place in range(places):
            if holder[place] >= 0:
                found[batch, holder[place]] = place
    return found
