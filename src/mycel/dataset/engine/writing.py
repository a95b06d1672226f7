# SPDX-License-Identifier: Apache-2.0
"""Pipelines as dictionaries that JSON can hold, and back."""

from __future__ import annotations

import enum
import importlib
import inspect
import json
import logging
import pathlib
from typing import Any

import numpy as np

from mycel.dataset.engine.dataset import Dataset
from mycel.dataset.engine.nodes import operation_name
from mycel.dataset.engine.schema import Schema
from mycel.dataset.engine.sources import GeneratorDataset, MappableDataset
from mycel.dataset.samplers import BuiltinSampler
from mycel.dataset.transforms.operations import Made
from mycel.kernel.base.dtypes import DType, numpy_dtype
from mycel.kernel.base.errors import wrong

UNREADABLE = (
    "deserialize: {what} is Python code, which JSON does not hold. Make the pipeline by the code "
    "that made it, or give map and batch operations of mycel.dataset only."
)
logger = logging.getLogger("mycel")
# Of a dataset with a sampler, what the sampler says.
_IN_SAMPLER = ("shuffle", "num_shards", "shard_id", "num_samples")


def to_json(dataset: Dataset, filename: str = "") -> dict:
    """See `Dataset.to_json`."""
    made = {"op_type": type(dataset).__name__, **_arguments(dataset)}
    if isinstance(dataset, GeneratorDataset):
        source = operation_name(dataset.source)
        made |= {"column_names": list(dataset.column_names), "source": {"python": source}}
    elif isinstance(dataset, MappableDataset):
        made |= dict.fromkeys(name for name in _IN_SAMPLER if name in made)
        made["sampler"] = _value(dataset.sampler)
    made["children"] = [to_json(child) for child in dataset.children]
    if filename:
        pathlib.Path(filename).write_text(json.dumps(made, indent=2), "utf-8")
    return made


def _arguments(made: Any) -> dict:
    """What an object was made with, by name; datasets that it was made of are left out."""
    arguments, keywords = made.made_with
    given = inspect.signature(type(made)).bind_partial(*arguments, **keywords).arguments
    flat: dict[str, Any] = {}
    for name, value in given.items():
        parameter = inspect.signature(type(made)).parameters[name]
        if parameter.kind is parameter.VAR_KEYWORD:
            flat.update(value)
        else:
            flat[name] = value
    return {name: _value(value) for name, value in flat.items() if not _of_datasets(value)}


def _of_datasets(value) -> bool:
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    return isinstance(first, Dataset)


def _value(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, enum.Enum):
        return {"enum": _path(type(value)), "name": value.name}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (np.bool_, np.number)):
        return value.item()
    if isinstance(value, pathlib.PurePath):
        return str(value)
    if isinstance(value, dict):
        return {"dict": [[_value(key), _value(each)] for key, each in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [_value(each) for each in value]}
    if isinstance(value, list):
        return [_value(each) for each in value]
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return {"array": value.tolist(), "dtype": str(value.dtype)}
    if isinstance(value, Schema):
        return {"schema": json.loads(value.to_json())}
    if isinstance(value, (np.dtype, type, DType)):
        return {"element_type": str(numpy_dtype(value))}
    ours = type(value).__module__.startswith("mycel.dataset.")
    if ours and isinstance(value, (Made, BuiltinSampler)) and hasattr(value, "made_with"):
        return {"object": _path(type(value)), "arguments": _arguments(value)}
    return {"python": getattr(value, "__qualname__", type(value).__qualname__)}


def _path(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _found(path: str) -> Any:
    """What a path means; only parts of `mycel.dataset`, since files come from anywhere."""
    module, _, name = path.partition(":")
    if not module.startswith("mycel.dataset."):
        raise wrong(ValueError, "deserialize: a class", "of mycel.dataset", repr(path))
    return getattr(importlib.import_module(module), name)


def _back(value: Any) -> Any:
    """What JSON has for a value."""
    if isinstance(value, list):
        return [_back(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "enum" in value:
        return _found(value["enum"])[value["name"]]
    if "dict" in value:
        return {_back(key): _back(each) for key, each in value["dict"]}
    if "tuple" in value:
        return tuple([_back(each) for each in value["tuple"]])
    if "array" in value:
        return np.array(value["array"], value["dtype"])
    if "element_type" in value:
        return np.dtype(value["element_type"])
    if "schema" in value:
        schema = Schema()
        schema.from_json(value["schema"])
        return schema
    if "object" in value:
        return _found(value["object"])(**_back_all(value["arguments"]))
    raise (
        wrong(ValueError, "deserialize: a value", "what serialize wrote", repr(value))
        if ("python" not in value)
        else NotImplementedError(UNREADABLE.format(what=value["python"]))
    )


def _back_all(values: dict) -> dict:
    return {name: _back(value) for name, value in values.items()}


def serialize(dataset: Dataset, json_filepath: str = "") -> dict[str, Any]:
    """A pipeline as a dictionary that JSON can hold; see `Dataset.to_json`.

    Args:
        dataset: the last data set of the pipeline.
        json_filepath: where to write it as well.

    Raises:
        TypeError: it is no dataset.
        OSError: the file cannot be written.

    Example:
        >>> schema = ds.Schema()
        >>> schema.add_column("x", ms.uint8, [2])
        >>> told = ds.serialize(ds.RandomDataset(5, schema).batch(2))
        >>> len(ds.deserialize(told))
        3
    """
    if not isinstance(dataset, Dataset):
        raise wrong(TypeError, "serialize: dataset", "a dataset", type(dataset).__name__)
    return to_json(dataset, json_filepath)


def deserialize(input_dict: dict[str, Any] | str | None = None, json_filepath: str | None = None):
    """The pipeline that `serialize` wrote.

    Args:
        input_dict: what it returned; the path of the file that it wrote is taken too, or
        json_filepath: the file that it wrote.

    Raises:
        TypeError, ValueError: none of the two is given, or it was not written by `serialize`.
        NotImplementedError: there is Python code in the pipeline.
        OSError: the file cannot be read.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "a.txt").write_text("one\\ntwo\\n")
        >>> data = ds.TextFileDataset(str(folder / "a.txt"), shuffle=False).skip(1)
        >>> _ = ds.serialize(data, str(folder / "pipeline.json"))
        >>> made = ds.deserialize(json_filepath=str(folder / "pipeline.json"))
        >>> [str(row[0]) for row in made]
        ['two']
    """
    if isinstance(input_dict, (str, pathlib.PurePath)):
        json_filepath = str(input_dict)
    if json_filepath is not None:
        input_dict = json.loads(pathlib.Path(json_filepath).read_text("utf-8"))
    if not isinstance(input_dict, dict) or "op_type" not in input_dict:
        expected = "a dictionary that serialize wrote"
        raise wrong(TypeError, "deserialize: input_dict", expected, repr(input_dict)[:60])
    told = dict(input_dict)
    name, children = told.pop("op_type"), told.pop("children", [])
    kind = _kinds().get(name)
    if kind is None:
        raise wrong(ValueError, "deserialize: op_type", "a kind of dataset", repr(name))
    if issubclass(kind, GeneratorDataset):
        raise NotImplementedError(UNREADABLE.format(what=f"the source of {name}"))
    inputs = [deserialize(child) for child in children]
    sampler = told.pop("sampler", None)
    made = _of(kind, inputs, _back_all(told))
    if sampler is not None:
        made.sampler = _back(sampler)
    return made


def _of(kind: type, inputs: list, arguments: dict):
    if not inputs:
        return kind(**arguments)
    first = next(iter(inspect.signature(kind).parameters))
    return kind(**{first: inputs if first == "datasets" else inputs[0]}, **arguments)


def _kinds() -> dict[str, type]:
    """Every kind of dataset by its name."""
    found: dict[str, type] = {}
    left = [Dataset]
    while left:
        for kind in left.pop().__subclasses__():
            if kind.__module__.startswith("mycel.dataset.") and kind.__name__ not in found:
                found[kind.__name__] = kind
                left.append(kind)
    return found


def compare(pipeline1: Dataset, pipeline2: Dataset) -> bool:
    """Whether two pipelines are written alike by `serialize`.

    Example:
        >>> schema = ds.Schema()
        >>> schema.add_column("x", ms.uint8, [2])
        >>> first, second = (ds.RandomDataset(5, schema).batch(size) for size in (2, 3))
        >>> ds.compare(first, first), ds.compare(first, second)
        (True, False)
    """
    return serialize(pipeline1) == serialize(pipeline2)


def show(dataset: Dataset, indentation: int = 2) -> None:
    """Write a pipeline to the log, at the level of information.

    Args:
        dataset: the last data set of the pipeline.
        indentation: spaces before each level.

    Example:
        >>> ds.show(ds.NumpySlicesDataset([1, 2]).batch(2))
    """
    logger.info(json.dumps(serialize(dataset), indent=indentation))
