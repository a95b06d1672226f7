# SPDX-License-Identifier: Apache-2.0
"""What `import mindspore` finds first in a process that a program under `mycel run` starts.

`mycel run` puts this folder, and nothing else, on PYTHONPATH. Where there is no mycel (the program
starts another Python) the folder steps aside, for whatever is installed there.
"""

import importlib
import os
import sys

here = os.path.dirname(os.path.realpath(__file__))
del sys.modules[__name__]
try:
    alias = importlib.import_module("mycel.compat.alias")
except ModuleNotFoundError as error:
    if error.name != "mycel":
        raise
    sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry) != here]
else:
    alias.install_as_mindspore()
# The import system gives out what stands in `sys.modules` now.
importlib.import_module(__name__)
