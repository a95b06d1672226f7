# SPDX-License-Identifier: Apache-2.0
"""What editors and type checkers are told of generated names; nothing here is imported to run.

`python -m tools.stubs` writes the `.pyi` files from the definitions, and beside each a `.py` file
in which an editor finds the definition of a name. `kinds` has the types that they speak of.
"""
