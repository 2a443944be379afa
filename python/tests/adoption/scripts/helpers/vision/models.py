import numpy as np

from . import utils

MODELS = {}


def register(name):
    def decorate(cls):
        if name in MODELS:
            raise KeyError(name)
        MODELS[name] = cls
        return cls

    return decorate


class Model:
    def __init__(self, width):
        self.width = width

    def loss(self, x):
        return float(np.mean((self.predict(x) - utils.target(x)) ** 2))


@register("poly")
class Polynomial(Model):
    def predict(self, x):
        return np.polyval(np.polyfit(x, utils.target(x), self.width), x)


@register("mean")
class Mean(Model):
    def predict(self, x):
        return np.full_like(x, utils.target(x).mean() / self.width)
