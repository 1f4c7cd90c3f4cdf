"""Texts for an ONNX file: cut into tokens by the tokenizer.json beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fewlabels.arrays import Numbers
from fewlabels.errors import FileError, ModelError
from fewlabels.items.embedding.onnx_file import OnnxFile, averaged

TOKENIZER = "tokenizer.json"
LONGEST = 256  # tokens of a text that are read


class TextNetwork(OnnxFile):
    """Texts; where the network gives a vector for every token, their mean."""

    def __init__(self, path: Path) -> None:
        beside = path.with_name(TOKENIZER)
        if not beside.is_file():
            raise FileError(f"there is no {beside}: texts need the tokenizer that the network was trained with.")
        super().__init__(path, hashlib.sha256(beside.read_bytes()).hexdigest())

    @cached_property
    def tokenizer(self) -> Any:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise ModelError(f"{self.path} needs tokenizers: pip install 'fewlabels[embed]'.") from None
        beside = self.path.with_name(TOKENIZER)
        try:
            made = Tokenizer.from_file(str(beside))
        except Exception as error:
            raise FileError(f"{beside} is no tokenizer ({error}). Put the one of the network there.") from None
        made.enable_truncation(LONGEST)
        made.enable_padding()
        return made

    def numbers(self, things: Sequence[str]) -> Numbers:
        """(m, d) of texts."""
        read = self.tokenizer.encode_batch(list(things))
        mask = np.array([one.attention_mask for one in read], dtype=np.int64)  # (m, tokens)
        ids = np.array([one.ids for one in read], dtype=np.int64)
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        wanted = [one.name for one in self.session.get_inputs()]
        if strange := [name for name in wanted if name not in known]:
            raise FileError(f"{self.path} takes the input {strange[0]!r}: it must take {', '.join(known)} alone.")
        found = self.run({name: known[name] for name in wanted})
        if found.ndim == 3:  # (m, tokens, d)
            found = (found * mask[:, :, None]).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)[:, None]
        return averaged(found)
