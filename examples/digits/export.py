"""Trains the network with scikit-learn and writes what `classify.py` reads; run once, its output is kept beside it.

    pip install scikit-learn && python examples/digits/export.py

The pictures are the UCI handwritten digits that scikit-learn ships. A quarter of them is held back from training and
written to `digits.npz`; `weights.npz` holds the trained numbers in f32, and `accuracy.json` what scikit-learn itself
reports for these numbers on these pictures.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

HERE = Path(__file__).parent
SEED = 0


def main() -> None:
    digits = load_digits()
    images = (digits.data / 16).astype(np.float32)  # trained in f32, so the weights are f32
    train, test = train_test_split(np.arange(len(images)), test_size=0.25, random_state=SEED, stratify=digits.target)
    network = MLPClassifier((48,), alpha=0.01, max_iter=2000, random_state=SEED)
    network.fit(images[train], digits.target[train])
    (w1, w2), (b1, b2) = network.coefs_, network.intercepts_
    correct = int((network.predict(images[test]) == digits.target[test]).sum())

    pictures = digits.images[test].astype(np.uint8)
    np.savez_compressed(HERE / "digits.npz", images=pictures, labels=digits.target[test].astype(np.int32))
    np.savez_compressed(HERE / "weights.npz", w1=w1, b1=b1, w2=w2, b2=b2)
    report = {"correct": correct, "images": len(test), "accuracy": correct / len(test)}
    (HERE / "accuracy.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(f"scikit-learn: {correct} of {len(test)} right")


if __name__ == "__main__":
    main()
