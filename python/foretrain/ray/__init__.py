# SPDX-License-Identifier: Apache-2.0
"""Foretrain and Ray: training on Ray measured, and Foretrain's own work spread over a Ray cluster.

``python -m foretrain.ray profile`` trains with Ray Train and stores what was measured;
``python -m foretrain.ray run`` is what ``foretrain … --on ADDRESS`` becomes. docs/ray.md describes
both. Ray is imported when it is needed and not before.
"""
