# SPDX-License-Identifier: Apache-2.0
"""Trains what the program ships: the graph hypernetwork of `foretrain embed`. Needs torch."""
