# SPDX-License-Identifier: Apache-2.0
"""The engine of `mycel.dataset`: datasets, the flows of rows they make, and worker processes."""
