"""Models that register themselves, by a decorator and by inheritance."""
import optuna

MODELS = {}


def register(name):
    def decorate(cls):
        assert name not in MODELS, name
        MODELS[name] = cls
        cls.registered_as = name
        return cls

    return decorate


class Layer:
    kinds = []
    count = 0

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.number = len(Layer.kinds)
        Layer.kinds.append(cls)

    def __init__(self, size):
        Layer.count += 1
        self.size = size


class Dense(Layer):
    def cost(self):
        return self.size**2


class Sparse(Layer):
    def cost(self):
        return 3 * self.size


@register("small")
class Small:
    sizes = (2, 3)

    def cost(self, kind):
        return sum(Layer.kinds[kind](size).cost() for size in self.sizes)


@register("big")
class Big(Small):
    sizes = tuple(range(5))

    def cost(self, kind):
        return 1 + super().cost(kind)


def objective(trial):
    model = MODELS[trial.suggest_categorical("model", ["small", "big"])]()
    kind = trial.suggest_categorical("kind", [0, 1])
    return model.cost(kind) + len(model.registered_as) + len(Layer.kinds) + Sparse.number


space = {"model": ["small", "big"], "kind": [0, 1]}
study = optuna.create_study(sampler=optuna.samplers.GridSampler(space, seed=0))
study.optimize(objective, n_trials=4)
print(sorted((*t.params.values(), t.value) for t in study.trials))
