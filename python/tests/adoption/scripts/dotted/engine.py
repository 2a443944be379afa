from config import cfg


def run():
    """Train with the present values of the configuration."""
    x = float(cfg.model.width)
    for _ in range(cfg.train.steps):
        x -= cfg.train.rate * x
    return x + len(cfg.model.act)
