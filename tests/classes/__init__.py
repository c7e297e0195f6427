# SPDX-License-Identifier: MIT
"""Classes of tables and queries at the edges of what there is."""
