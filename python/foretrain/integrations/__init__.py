# SPDX-License-Identifier: Apache-2.0
"""Callbacks for libraries that hold the training loop; each is imported only where it is used."""
