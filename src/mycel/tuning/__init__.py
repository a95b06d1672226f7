# SPDX-License-Identifier: Apache-2.0
"""What is chosen by platform."""
