# SPDX-License-Identifier: Apache-2.0
"""What developers of mycel run; users need none of it."""
