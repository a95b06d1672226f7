# SPDX-License-Identifier: Apache-2.0
"""Where the time of a step goes: programs with the names of Cells in them, what XLA tells of a run,
and tables, pages and traces of it."""
