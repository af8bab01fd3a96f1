# SPDX-License-Identifier: Apache-2.0
"""The 1,797 handwritten digits that ship with scikit-learn, as images of three equal channels."""

import torch

TEST = 450  # images for the test, by a fixed shuffle


def load_digits():
    """(training images, labels), (test images, labels); pixels have mean 0 and deviation 1."""
    from sklearn.datasets import load_digits as load

    data = load()
    images = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1)
    labels = torch.tensor(data.target, dtype=torch.long)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    images, labels = images[order], labels[order]
    train = images[TEST:]
    images = ((images - train.mean()) / train.std()).expand(-1, 3, -1, -1).contiguous()
    return (images[TEST:], labels[TEST:]), (images[:TEST], labels[:TEST])
