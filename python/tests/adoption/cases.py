"""Lists scripts and notebooks of researchers, each with the one line that changes and the expected
result.

    CASES["optuna_tutorial"].changed_text()

Each script is written as people write scripts for their own machine. To send its trials to devices,
one line changes and one ``import`` is added. Then the script prints the same as before, or the
package refuses it with a sentence that names a file, a line and a remedy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

SCRIPTS = Path(__file__).with_name("scripts")
OPTIMIZE = "study.optimize("
CHANGED = "hyperflock.optuna.optimize(study, "


@dataclass(frozen=True)
class Refusal:
    """An expected error.

    Attributes
    ----------
    code, place, says
        The error's code, the file and line in the message, and the rest of the message.
    """

    code: str
    place: str
    says: str


@dataclass(frozen=True)
class Case:
    """A script or notebook that is run with one changed line.

    Attributes
    ----------
    file : str
        Its path below ``scripts``.
    shows : str
        The kind of code that it is an example of, for the table in the documentation.
    arguments : tuple of str
        Its arguments.
    line, change : str
        A part of the one line that changes, and what takes its place.
    imports : str
        The line that is added.
    refused : Refusal or None
        The expected error; None if the script runs.
    in_node : bool
        Whether its trials are also run in the browsers' runtime in Node.
    environment : dict
        Its environment variables.
    warns : str
        A part of the warning that it causes.
    """

    file: str
    shows: str
    arguments: tuple[str, ...] = ()
    line: str = OPTIMIZE
    change: str = CHANGED
    imports: str = "import hyperflock"
    refused: Refusal | None = None
    in_node: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    warns: str = ""

    @property
    def path(self) -> Path:
        """The path of the script or notebook."""
        return SCRIPTS / self.file

    @property
    def needs_chainer(self) -> bool:
        """Whether the added import is one of Chainer."""
        return "chainer" in self.imports

    def changed_text(self) -> str:
        """Return the text of the script or notebook with the changed line and the added import."""
        lines = self.path.read_text("utf-8").splitlines(keepends=True)
        places = [number for number, line in enumerate(lines) if self.line in line]
        assert len(places) == 1, (self.file, places)
        lines[places[0]] = lines[places[0]].replace(self.line, self.change)
        if self.path.suffix == ".ipynb":
            return "".join(lines).replace(
                '"import numpy', f'"{self.imports}\\n",\n    "import numpy', 1
            )
        first = next(
            number
            for number, line in enumerate(lines)
            if line.startswith(("import ", "from ")) and "__future__" not in line
        )
        return "".join([*lines[:first], f"{self.imports}\n", *lines[first:]])


_CHAINER = "import hyperflock.chainer"
_GRID = (
    "results = [(tuple(t.params.values()), t.value) for t in hyperflock.Client().grid(lambda t: "
    'train(t.params["rate"], t.params["channels"]), {"rate": RATES, "channels": CHANNELS})]'
)
CASES = {
    name: Case(file, shows, **more)
    for name, file, shows, more in (
        (
            "chainer_mnist",
            "chainer_mnist.py",
            "Chainer's MNIST example: arguments, updater, trainer, evaluator, log, snapshot",
            {"arguments": ("--epoch", "2"), "imports": _CHAINER, "in_node": True},
        ),
        (
            "chainer_cifar",
            "chainer_cifar.py",
            "a Chainer training loop; arguments and data are globals that the main guard sets",
            {"arguments": ("--epoch", "2"), "imports": _CHAINER, "in_node": True},
        ),
        (
            "chainer_updater",
            "chainer_updater.py",
            "an updater of one's own, `chainer.global_config`, a class attribute set later, a "
            "method that plots",
            {"imports": _CHAINER, "in_node": True},
        ),
        (
            "optuna_tutorial",
            "optuna_tutorial.py",
            "Optuna's first tutorial: no main guard",
            {"in_node": True},
        ),
        (
            "optuna_sklearn",
            "optuna_sklearn.py",
            "Optuna's scikit-learn tutorial",
            {"in_node": True},
        ),
        (
            "plain_loop",
            "plain_loop.py",
            "a loop over a grid at the top of the file, without Optuna and without a main guard",
            {
                "line": "results = [((r, c), train(r, c)) for r, c in "
                "itertools.product(RATES, CHANNELS)]",
                "change": _GRID,
            },
        ),
        (
            "argparse_at_top",
            "argparse_at_top.py",
            "`parse_args()` at the top; its values in a default and in a constant",
            {"arguments": ("--steps", "4", "--power", "2"), "in_node": True},
        ),
        (
            "global_from_arguments",
            "global_from_arguments.py",
            "a global that `main()` sets from the arguments",
            {"arguments": ("7",)},
        ),
        (
            "dataclass_config",
            "dataclass_config.py",
            "data classes, an enumeration, a named tuple; changed below the main guard",
            {"in_node": True},
        ),
        (
            "dotted_config",
            "dotted/train.py",
            "a dotted configuration that three files share, and that the objective changes",
            {"arguments": ("train.steps=3", "model.width=9"), "in_node": True},
        ),
        (
            "helper_package",
            "helpers/search.py",
            "a package with relative imports and a registry; Matplotlib and pandas in one file",
            {"in_node": True},
        ),
        (
            "seaborn_at_top",
            "seaborn_at_top.py",
            "seaborn, Matplotlib and pandas at the top, for the report alone",
            {},
        ),
        (
            "numpy_versions",
            "numpy_versions.py",
            "definitions that depend on NumPy's version",
            {"in_node": True},
        ),
        (
            "pandas_then_numpy",
            "pandas_then_numpy.py",
            "a table that pandas reads at the top; the objective uses arrays",
            {"in_node": True},
        ),
        (
            "hydra_like",
            "hydra_like/app.py",
            "a decorator that reads a configuration file and calls `main(cfg)`, as Hydra's",
            {"arguments": ("trainer.steps=6", "optimizer.momentum=0.9")},
        ),
        (
            "class_objective",
            "class_objective.py",
            "an abstract class of objectives, whose class attribute is changed later",
            {"in_node": True},
        ),
        (
            "partial_and_closure",
            "partial_and_closure.py",
            "`functools.partial` over a closure",
            {},
        ),
        (
            "multiprocessing_guard",
            "multiprocessing_guard.py",
            "a pool of processes that prepares the data below the main guard",
            {},
        ),
        (
            "logging_at_top",
            "logging_at_top.py",
            "`logging.basicConfig` with a file, `__name__`, the time at the start",
            {},
        ),
        (
            "file_in_objective",
            "file_in_objective.py",
            "an objective that reads a file next to the script",
            {
                "refused": Refusal(
                    "cannot_bundle_path",
                    "file_in_objective.py, line 11",
                    "the path '{folder}/table.csv' of this machine; send the file by data=...",
                )
            },
        ),
        (
            "open_log",
            "open_log.py",
            "an open file that a function writes",
            {
                "refused": Refusal(
                    "cannot_bundle_file",
                    "open_log.py, line 8",
                    "'log', an open file; send it by data=... or open it there",
                )
            },
        ),
        (
            "tqdm_in_loop",
            "tqdm_in_loop.py",
            "tqdm, `lru_cache`, a context manager, a dictionary that functions fill",
            {"in_node": True},
        ),
        (
            "plot_after",
            "plot_after.py",
            "figures at the top and plots of the results",
            {},
        ),
        (
            "registry",
            "registry.py",
            "classes that a decorator and `__init_subclass__` register",
            {"in_node": True},
        ),
        (
            "seeded_at_top",
            "seeded_at_top.py",
            "seeds at the top, and data that is drawn with them",
            {"warns": "seeds random numbers of this process"},
        ),
        (
            "environment",
            "environment.py",
            "environment variables, and a package that may be missing",
            {"environment": {"ADOPTION_STEPS": "5"}},
        ),
        (
            "notebook",
            "notebook.ipynb",
            "a notebook with magics, a class whose method plots, plots of the results",
            {"in_node": True},
        ),
    )
}
