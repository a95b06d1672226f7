# SPDX-License-Identifier: Apache-2.0
"""Programs as users write them, by theme; each is run in every way and compared with PyNative."""

import importlib

THEMES = (
    "counters",
    "training",
    "configs",
    "attributes",
    "caches",
    "called",
    "caught",
    "replaced",
    "patched",
    "arguments",
    "batches",
    "arrays",
    "random_state",
    "control",
    "functions",
    "classes",
    "patterns",
    "output",
    "hooks",
    "older",
    "effectless",
    "converted",
    "writes",
    "equal",
    "reach",
    "texts",
    "observed",
    "entries",
    "lazy",
    "surroundings",
    "families",
    "inherited",
    "order",
    "between",
    "again",
    "attacked",
    "identities",
    "returned",
    "side_doors",
)

for theme in THEMES:
    importlib.import_module(f"natural.{theme}")
