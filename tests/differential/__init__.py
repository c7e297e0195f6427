# SPDX-License-Identifier: MIT
"""Random tables and queries, run on vdbq and on another engine."""
