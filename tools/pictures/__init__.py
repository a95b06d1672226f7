# SPDX-License-Identifier: Apache-2.0
"""The pictures of the front page, each of which is written from what was run or recorded."""
