# SPDX-License-Identifier: Apache-2.0
"""The proof that a call may be replayed: what Python ran in it, what that read and changed, and
whether it is so again. `kernel.execute`, which runs programs, asks here and is not known here.
"""
