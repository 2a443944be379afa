"""Lets old pickles find public classes in the modules that contained them in version 0.1."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

# Modules below `hyperflock`: the name in version 0.1 and the name now.
MOVED = {
    "_artifacts": "_client.artifacts",
    "_comparison": "_execution.comparison",
    "_deletion": "_client.deletion",
    "_device": "_trial.devices",
    "_dry_run": "_execution.dry_run",
    "_errors": "_base.errors",
    "_fast_step": "_trial.fast_step",
    "_grid": "_model.grid",
    "_placement": "_client.placement",
    "_plots": "_reports.plots",
    "_protocol": "_transport.messages",
    "_provenance": "_model.provenance",
    "_replay": "_execution.replay",
    "_results": "_model.results",
    "_spec": "_model.spec",
    "_trainer": "_trial.trainer",
}


class OldNames:
    """A finder and loader of the modules in `MOVED`: each is an alias of today's module."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a specification for a name in `MOVED`, else None."""
        package, _, name = fullname.rpartition(".")
        if package != "hyperflock" or name not in MOVED:
            return None
        return ModuleSpec(fullname, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return a module with the names of today's module."""
        now = import_module(f"hyperflock.{MOVED[spec.name.rpartition('.')[2]]}")
        module = ModuleType(spec.name)
        vars(module).update({k: v for k, v in vars(now).items() if not k.startswith("__")})
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: `create_module` returned a complete module."""


def install() -> None:
    """Let this process import the modules in `MOVED`."""
    if not any(type(finder) is OldNames for finder in sys.meta_path):
        sys.meta_path.append(OldNames())
