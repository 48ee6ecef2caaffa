"""Tensors in a file, in the safetensors format: a header of JSON, then the bytes. The same tensors are the same bytes.

    8 bytes        the length of the header, little endian
    header         {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ..., "__metadata__": {...}}
    the bytes      of all tensors, one after the other

Among the metadata is the checksum of the bytes and of all else that the header says; a file without one is read too.
A pickle would not do: its bytes depend on which strings happen to be the same object, and reading it runs code.
"""

import hashlib
import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from recombine.store.errors import UserError
from recombine.store.store import write_atomically
from recombine.store.untrusted import parse_json, read_bytes

DTYPES = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    "I8": torch.int8,
    "I16": torch.int16,
    "I32": torch.int32,
    "I64": torch.int64,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F32": torch.float32,
    "F64": torch.float64,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
METADATA, CHECKSUM = "__metadata__", "recombine.checksum"
LONGEST = 64 * 2**20
"""Bytes of a header."""
LARGEST = 4 * 2**30
"""Bytes of a file."""


def write_tensors(file: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write tensors and some words about them; the file appears whole or not at all."""
    header: dict[str, Any] = {METADATA: dict(metadata)}
    parts, at = [], 0
    for name, tensor in tensors.items():
        part = _bytes(tensor)
        header[name] = {
            "dtype": NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [at, at + len(part)],
        }
        parts.append(part)
        at += len(part)
    data = b"".join(parts)
    header[METADATA][CHECKSUM] = _checksum(header, data)
    text = json.dumps(header, sort_keys=True).encode()
    text += b" " * (-len(text) % 8)  # aligned, as the format asks
    whole = b"".join([struct.pack("<Q", len(text)), text, data])
    write_atomically(file, lambda draft: draft.write_bytes(whole))


def read_tensors(file: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a file, and the words about them."""
    advice = "delete it, or put the right one there"
    whole = read_bytes(file, LARGEST, advice)
    try:
        return _read(whole)
    except (
        UserError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        ArithmeticError,
        struct.error,
        RuntimeError,
    ) as e:
        raise UserError(f"{file} is damaged or no file of tensors ({e!s:.200}); {advice}") from e


def _read(whole: bytes) -> tuple[dict[str, Tensor], dict[str, str]]:
    (length,) = struct.unpack_from("<Q", whole)
    if length > LONGEST:
        raise ValueError("its header is too long")
    header = parse_json(whole[8 : 8 + length], "its header", dict)
    data = memoryview(whole)[8 + length :]
    metadata = header.setdefault(METADATA, {})
    if not all(isinstance(word, str) for word in metadata.values()):
        raise ValueError("its metadata are not words")
    wanted = metadata.pop(CHECKSUM, None)
    if wanted is not None and wanted != _checksum(header, data):
        raise ValueError("it does not have the bytes it was written with")
    del header[METADATA]
    if sum(max(0, end - start) for start, end in (about["data_offsets"] for about in header.values())) > len(data):
        raise ValueError("its tensors lie over one another")  # each takes room of its own
    return {name: _tensor(about, data) for name, about in header.items()}, metadata


def _checksum(header: Mapping[str, Any], data: bytes | memoryview) -> str:
    """Of all that a file says and holds, but for the checksum."""
    digest = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16)
    digest.update(data)
    return digest.hexdigest()


def _tensor(about: Mapping[str, Any], data: memoryview) -> Tensor:
    start, end = about["data_offsets"]
    if not 0 <= start <= end <= len(data):
        raise ValueError("a tensor ends after the file")
    if not all(type(side) is int and side >= 0 for side in about["shape"]):
        raise ValueError("a tensor has no shape")
    flat = torch.frombuffer(bytearray(data[start:end]), dtype=torch.uint8) if end > start else torch.empty(0).byte()
    return flat.view(DTYPES[about["dtype"]]).reshape(about["shape"])


def _bytes(tensor: Tensor) -> bytes:
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
