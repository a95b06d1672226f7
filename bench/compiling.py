# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.compiling`: what the first step of a network costs, beside `jax.jit` alone.

In a fresh process without a cache on disk: processor time until the first result, and of that in
XLA; then the same program is traced, lowered and compiled by `jax.jit` as it would be by hand. The
sizes of the program are those before and after XLA's passes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

NETWORKS = ("lenet", "mobilenet", "resnet50")


def measure(name: str, variant: str) -> None:
    """In this process: print a line."""
    import jax

    from bench import in_mycel
    from mycel.kernel.base.backend import compiler_options
    from mycel.kernel.execute.compile import Executable, program

    compiled: list[tuple[Executable, list]] = []
    run = Executable._compile

    def noted(self, arrays, layout=""):
        structs = [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays]
        compiled.append((self, structs))
        return run(self, arrays, layout)

    Executable._compile = noted  # type: ignore[method-assign]
    once = in_mycel.make(name, variant)
    start = time.process_time()
    once()
    first = time.process_time() - start
    executable, structs = max(compiled, key=lambda made: made[0].size)
    # By hand nothing was traced before, and operators are plain functions.
    functions = [node.signature.op.function for node in executable.parts[0]]
    jax.clear_caches()
    start = time.process_time()
    jitted = jax.jit(program(*executable.parts, functions=functions), keep_unused=True)
    lowered = jitted.lower(*structs)
    traced = time.process_time() - start
    made = lowered.compile(compiler_options=compiler_options())
    by_hand = time.process_time() - start
    before, after = lowered.as_text().count("stablehlo."), (made.as_text() or "").count(" = ")
    print(
        f"{name} {variant}: first result {first:.1f} s, {len(compiled)} programs, the largest "
        f"{executable.size} operators, {before} of StableHLO, {after} instructions; jax.jit of it "
        f"{by_hand:.1f} s ({traced:.1f} tracing and lowering), ratio {first / by_hand:.2f}",
        flush=True,
    )


def main() -> None:
    """Each network in a process of its own."""
    parser = argparse.ArgumentParser(prog="python -m bench.compiling", description=__doc__)
    parser.add_argument("work", nargs="*", default=NETWORKS, help="names of `bench.work`")
    parser.add_argument("--variant", default="graph", choices=("graph", "pynative"))
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        measure(options.work[0], options.variant)
        return
    for name in options.work:
        command = [sys.executable, "-m", "bench.compiling", name, "--here"]
        command += ["--variant", options.variant]
        subprocess.run(command, env=os.environ | {"MYCEL_CACHE": "off"}, check=True)


if __name__ == "__main__":
    main()
