"""A small framework of the lab's own: it reads a configuration and calls the decorated function."""
import functools
import json
import sys
from pathlib import Path
from types import SimpleNamespace


def load(path, overrides):
    values = json.loads(path.read_text())
    for override in overrides:
        key, _, value = override.partition("=")
        section, name = key.split(".")
        values[section][name] = json.loads(value)
    return SimpleNamespace(**{key: SimpleNamespace(**value) for key, value in values.items()})


def main(config_name):
    def decorate(function):
        @functools.wraps(function)
        def wrapper():
            path = Path(sys.modules[function.__module__].__file__).with_name(config_name)
            return function(load(path, sys.argv[1:]))

        return wrapper

    return decorate
