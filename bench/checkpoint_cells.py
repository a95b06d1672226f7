# SPDX-License-Identifier: Apache-2.0
"""Checkpoints as MindSpore users write them: the same source for mycel and for MindSpore itself."""

from __future__ import annotations

from bench.checkpoint_files import Format


def formats(ms) -> dict[str, Format]:
    """Both formats in one framework, mycel or MindSpore."""

    def given(arrays):
        return [{"name": label, "data": ms.Tensor(array)} for label, array in arrays.items()]

    def of(name: str) -> Format:
        def save(path, parameters):
            ms.save_checkpoint(parameters, path, format=name)

        def load(path):
            found = ms.load_checkpoint(path, format=name)
            return {label: parameter.asnumpy() for label, parameter in found.items()}

        return Format(f".{name}", given, save, load)

    return {name: of(name) for name in ("ckpt", "safetensors")}
