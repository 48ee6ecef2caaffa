"""Packed bits: 64 truth values in a word, and the few loops over them that NumPy has no call for."""

from typing import Any

import numpy as np
from numba import config, types
from numba.extending import intrinsic

from recombine.store.compiled import compiled

BITS = 64


def pack_bits(truth: np.ndarray) -> np.ndarray:
    """bool[..., n] -> uint64[..., ceil(n / 64)]; bit b of word w is truth[64 w + b]."""
    padding = -truth.shape[-1] % BITS
    if padding:
        truth = np.concatenate([truth, np.zeros((*truth.shape[:-1], padding), bool)], axis=-1)
    return np.packbits(truth, axis=-1, bitorder="little").view(np.uint64)


def unpack_bits(words: np.ndarray, n: int) -> np.ndarray:
    """uint64[..., w] -> bool[..., n]."""
    octets = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(octets, axis=-1, count=n, bitorder="little").astype(bool)


@intrinsic
def _popcount(context: Any, word: Any = None) -> Any:
    """How many bits of a word are set."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), build


@intrinsic
def _lowest(context: Any, word: Any = None) -> Any:
    """The place of the lowest set bit of a word that is not zero."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir

        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), build


# Loops that are not compiled, for one who looks into them with a debugger, take the plain way.
_PLAINLY: bool = getattr(config, "DISABLE_JIT", False)
popcount: Any = (lambda word: int(word).bit_count()) if _PLAINLY else _popcount
lowest: Any = (lambda word: (int(word) & -int(word)).bit_length() - 1) if _PLAINLY else _lowest


@compiled
def transpose_bits(rows: np.ndarray, out: np.ndarray) -> None:
    """Bit i of row r becomes bit r of row i: uint64[r, w] into uint64[64 w, ceil(r / 64)]."""
    block = np.zeros(64, np.uint64)
    for top in range(0, rows.shape[0], 64):
        high = min(64, rows.shape[0] - top)
        for word in range(rows.shape[1]):
            for i in range(64):
                block[i] = rows[top + i, word] if i < high else np.uint64(0)
            _transpose_block(block)
            for i in range(64):
                out[word * 64 + i, top // 64] = block[i]


@compiled
def _transpose_block(block: np.ndarray) -> None:
    """Transpose 64 x 64 bits in place, halving the squares that are swapped."""
    width = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while width:
        shift = np.uint64(width)
        start = 0
        while start < 64:
            for i in range(start, start + width):
                swap = ((block[i] >> shift) ^ block[i + width]) & mask
                block[i] ^= swap << shift
                block[i + width] ^= swap
            start += 2 * width
        width //= 2
        mask ^= mask << np.uint64(width)


@compiled
def holds(row: np.ndarray, place: int) -> bool:
    """Whether this bit of a packed row is set."""
    return bool((row[place >> 6] >> np.uint64(place & 63)) & np.uint64(1))


@compiled
def select(row: np.ndarray, rank: int) -> int:
    """The place of the set bit that has `rank` set bits before it; -1 where there is none."""
    for w in range(row.shape[0]):
        here: int = popcount(row[w])
        if rank < here:
            word = row[w]
            for _ in range(rank):
                word &= word - np.uint64(1)
            return w * 64 + lowest(word)
        rank -= here
    return -1
