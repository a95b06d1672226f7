# SPDX-License-Identifier: Apache-2.0
"""What XLA has no fast code for on a CPU, as functions in C++ that its programs call."""
