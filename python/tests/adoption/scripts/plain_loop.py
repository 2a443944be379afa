"""A loop over a grid in a script without a main guard."""
import itertools

import numpy as np

RATES = [0.1, 0.01]
CHANNELS = [4, 16]
x = np.linspace(0, 1, 32)
y = 3 * x + np.cos(9 * x)


def train(rate, channels):
    weights = np.zeros(channels)
    features = x[:, None] ** np.arange(channels)
    for _ in range(200):
        weights -= rate * features.T @ (features @ weights - y) / len(x)
    return float(np.mean((features @ weights - y) ** 2))


results = [((r, c), train(r, c)) for r, c in itertools.product(RATES, CHANNELS)]
for (rate, channels), loss in sorted(results):
    print(rate, channels, "%.6f" % loss)
