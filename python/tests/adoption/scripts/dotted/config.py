"""The configuration that every file imports. Its keys are attributes, as in yacs and OmegaConf."""


class Node(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self[name] = value

    def merge(self, pairs):
        for key, value in pairs:
            node = self
            *path, last = key.split(".")
            for part in path:
                node = node[part]
            node[last] = type(node[last])(value)


cfg = Node(
    model=Node(width=4, act="relu"),
    train=Node(rate=0.1, steps=5),
    seed=0,
)
