# SPDX-License-Identifier: Apache-2.0
"""The version of the distribution; read by the build as well."""

__version__ = "0.1.0"
