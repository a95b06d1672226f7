# SPDX-License-Identifier: Apache-2.0
"""Collections of data in the folders and files in which they were published."""
