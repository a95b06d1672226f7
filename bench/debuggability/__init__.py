# SPDX-License-Identifier: Apache-2.0
"""Fifteen behaviours of debugging compiled code, in mycel and in other frameworks."""
