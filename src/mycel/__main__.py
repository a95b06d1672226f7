# SPDX-License-Identifier: Apache-2.0
"""`python -m mycel` is the command `mycel`."""

import sys

from mycel.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
