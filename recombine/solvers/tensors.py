"""Tensors in a file, in the safetensors format: a header of JSON, then the bytes. The same tensors are the same bytes.

    8 bytes        the length of the header, little endian
    header         {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ..., "__metadata__": {...}}
    the bytes      of all tensors, one after the other

A pickle would not do: its bytes depend on which strings happen to be the same object, and reading it runs code.
"""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from recombine.store.errors import UserError
from recombine.store.store import write_atomically

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
METADATA = "__metadata__"


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
    text = json.dumps(header, sort_keys=True).encode()
    text += b" " * (-len(text) % 8)  # aligned, as the format asks
    whole = b"".join([struct.pack("<Q", len(text)), text, *parts])
    write_atomically(file, lambda draft: draft.write_bytes(whole))


def read_tensors(file: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a file, and the words about them."""
    try:
        return _read(file.read_bytes())
    except (ValueError, KeyError, TypeError, struct.error, RuntimeError) as error:
        raise UserError(f"{file} is damaged or no file of tensors; delete it, or put the right one there") from error


def _read(whole: bytes) -> tuple[dict[str, Tensor], dict[str, str]]:
    (length,) = struct.unpack_from("<Q", whole)
    header = json.loads(whole[8 : 8 + length])
    metadata = header.pop(METADATA, {})
    data = memoryview(whole)[8 + length :]
    return {name: _tensor(about, data) for name, about in header.items()}, metadata


def _tensor(about: Mapping[str, Any], data: memoryview) -> Tensor:
    start, end = about["data_offsets"]
    if not 0 <= start <= end <= len(data):
        raise ValueError("a tensor ends after the file")
    flat = torch.frombuffer(bytearray(data[start:end]), dtype=torch.uint8) if end > start else torch.empty(0).byte()
    return flat.view(DTYPES[about["dtype"]]).reshape(about["shape"])


def _bytes(tensor: Tensor) -> bytes:
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
