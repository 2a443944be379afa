"""Submits searches: `grid`, `random` and `sobol` of the clients.

    class AsyncClient(AsyncSearches): ...
    class Client(Searches): ...

An objective is bundled when the method is called, because bundling reads the caller's stack and the
current values. Sending happens when the returned coroutine runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from hyperflock._base.errors import HyperflockError
from hyperflock._bundle.bundle import bundle_objective
from hyperflock._bundle.source.runtime import DEFAULT_RUNTIME, chainer_of
from hyperflock._bundle.wheels import read_wheels
from hyperflock._client.async_study import AsyncStudy
from hyperflock._client.blocking import described_as
from hyperflock._client.placement import Requires, backend_of, requirements_of
from hyperflock._client.study import Study
from hyperflock._client.submission import (
    DEFAULT_MAX_FAILURES,
    DryRunChoice,
    GridOptions,
    Method,
    Submission,
    key_of,
)
from hyperflock._client.webhooks import webhook_of
from hyperflock._execution.dry_run import DryRun
from hyperflock._model.data import prepare
from hyperflock._model.space import SearchSpace, Space, dimensions_of, kind_of
from hyperflock._model.value_range import Range
from hyperflock._transport import background_loop as _loop
from hyperflock._transport.messages import Backend, Direction, WebhookEvent

if TYPE_CHECKING:
    from typing_extensions import Unpack

Data = Mapping[str, Any]
Objective = Callable[[Any], Any]


class AsyncSearches(ABC):
    """The methods of `AsyncClient` that submit a search."""

    @abstractmethod
    async def try_in_browser(self, made: Submission) -> DryRun:
        """Run the first trial of a prepared study in a browser on this machine."""

    @abstractmethod
    async def submit(self, made: Submission, progress: bool | None = None) -> AsyncStudy:
        """Send a prepared study to the server."""

    @overload
    def grid(
        self,
        objective: Objective,
        space: Space,
        data: Data | None = ...,
        name: str | None = ...,
        *,
        dry_run: Literal[False] = ...,
        **options: Unpack[GridOptions],
    ) -> Coroutine[Any, Any, AsyncStudy]: ...

    @overload
    def grid(
        self,
        objective: Objective,
        space: Space,
        data: Data | None = ...,
        name: str | None = ...,
        *,
        dry_run: Literal[True, "cpython", "browser"],
        **options: Unpack[GridOptions],
    ) -> Coroutine[Any, Any, DryRun]: ...

    def grid(
        self,
        objective: Objective,
        space: Space,
        data: Data | None = None,
        name: str | None = None,
        *,
        direction: Direction = "minimize",
        seed: int = 0,
        runtime: str = DEFAULT_RUNTIME,
        backend: Backend | None = None,
        requires: Requires | None = None,
        time_limit_s: float | None = None,
        max_failures: int | None = DEFAULT_MAX_FAILURES,
        value_range: Range | None = None,
        priority: int = 0,
        webhook: str | None = None,
        webhook_events: Sequence[WebhookEvent] | None = None,
        submit_key: str | None = None,
        once: bool = False,
        wheels: Sequence[str | Path] = (),
        dry_run: DryRunChoice = False,
        progress: bool | None = None,
    ) -> Coroutine[Any, Any, AsyncStudy | DryRun]:
        """Submit every point of ``space`` as a trial of one study.

        `random` and `sobol` draw points from a space instead.

        Parameters
        ----------
        objective
            Called as ``objective(trial)``; returns a float or a tuple of up to 8 floats. It is a
            function of a script, a module or a notebook, a lambda, a closure, a
            ``functools.partial`` or a callable object. Its source is sent with all of the
            researcher's own code that it uses.
        space
            A mapping of names to lists of values, of which every combination is a point; or a list
            of points, each a mapping with the same names. A value is None, a bool, an int within 64
            bits, a finite float or a str, or a tuple, list or dict of values. A trial gets an equal
            value of the same type. NumPy scalars become Python's. A point has at most 64 KiB as
            JSON.
        data
            A mapping of names to paths, arrays or dicts of arrays, which a trial finds in
            ``trial.data[name]``. The same content is sent only once.
        name
            The study's name, which ``once`` uses as key. None means the objective's name.
        direction
            ``"minimize"`` or ``"maximize"``, for the first value that the objective returns.
        seed
            Determines every trial's seed (`trial_seed`), and the points of `random` and `sobol`.
        runtime
            What the devices load: ``chainer-7.8.1`` or ``chainer-5.4.0``.
        backend
            What ``hyperflock.device()`` returns in a trial. ``"webgpu"`` means that only devices
            with WebGPU run the trials, ``"webgl2"`` only those with WebGL2 and no WebGPU, ``"cpu"``
            means array-core's CPU back end, and ``"auto"`` the best of each device. None means
            ``"auto"`` if the code calls ``hyperflock.device``; otherwise devices do not load
            array-core.
        requires
            What a device must have to get trials; see `Requires`. `Study.placement` returns how
            many of the connected devices have it.
        time_limit_s
            The time limit of one trial. None means 3,600 s, or the longest that the server allows
            if that is shorter; 0 means the longest that the server allows, however long. A number
            above that is refused (``ceiling_exceeded``).
        max_failures
            After this many failed trials that are alike, and before any has succeeded, the study
            pauses itself (`Study.stopped_by`). None means never.
        value_range
            The lowest and the highest value that the objective can return, such as ``(0, 1)``; None
            in place of one of them means no limit. A device that sends another value is not
            believed: its attempt fails with the code ``value_out_of_range``, and the trial runs
            again on another device. If that sends one too, the trial fails.
        priority
            From -100 to 100. Of one's own studies, those with the highest priority get devices
            first. `Study.set_priority` changes it.
        webhook
            An address that begins with ``https://``, to which the server posts what happens to the
            study; see `Study.notify`. A study that is found again by its key keeps its webhook.
        webhook_events
            Which events are posted. None means all of them.
        submit_key
            Makes submitting idempotent: a second submission with the same key and content returns
            the first study. None means a new key.
        once
            Use ``name`` as the key: the study is submitted once and found again afterwards. If the
            space has more values or points than that of the study, the study is extended by them
            (`Study.extend`).
        wheels
            Pure Python wheels (``...-py3-none-any.whl``) that the objective imports from.
        dry_run
            Run the first trial on this machine and submit nothing. True or ``"cpython"`` runs it in
            a Python process of its own, which can import what a browser has; ``"browser"`` runs it
            in a local headless Chromium with the server's browser runtime, which is fetched once
            and kept.
        progress
            Whether to show progress bars; by default only if standard error is a terminal.

        Returns
        -------
        Study
            The study; from `AsyncClient` an `AsyncStudy`. With ``dry_run`` the result is a `DryRun`
            with value, seconds, output and error.

        Raises
        ------
        BundleError, DataError, InvalidSpaceError
            Something cannot be sent. In this case nothing has been sent.
        StudyExistsError
            The key, or the name with ``once``, belongs to a study with other content.
            ``space_changed``: with ``once``, the space lacks something that the study has.
        DryRunError
            The dry run could not start or finish.
        ServerError, ServerUnreachableError, HyperflockError
        """
        return self._submitted(
            None,
            0,
            objective,
            space,
            data,
            name,
            dry_run,
            {
                "direction": direction,
                "seed": seed,
                "runtime": runtime,
                "backend": backend,
                "requires": requires,
                "time_limit_s": time_limit_s,
                "max_failures": max_failures,
                "value_range": value_range,
                "priority": priority,
                "webhook": webhook,
                "webhook_events": webhook_events,
                "submit_key": submit_key,
                "once": once,
                "wheels": wheels,
                "progress": progress,
            },
        )

    @overload
    def random(
        self,
        objective: Objective,
        space: SearchSpace,
        data: Data | None = ...,
        name: str | None = ...,
        *,
        trials: int,
        dry_run: Literal[False] = ...,
        **options: Unpack[GridOptions],
    ) -> Coroutine[Any, Any, AsyncStudy]: ...

    @overload
    def random(
        self,
        objective: Objective,
        space: SearchSpace,
        data: Data | None = ...,
        name: str | None = ...,
        *,
        trials: int,
        dry_run: Literal[True, "cpython", "browser"],
        **options: Unpack[GridOptions],
    ) -> Coroutine[Any, Any, DryRun]: ...

    def random(
        self,
        objective: Objective,
        space: SearchSpace,
        data: Data | None = None,
        name: str | None = None,
        *,
        trials: int,
        dry_run: DryRunChoice = False,
        **options: Unpack[GridOptions],
    ) -> Coroutine[Any, Any, AsyncStudy | DryRun]:
        """Submit ``trials`` random points of ``space`` as trials of one study.

        A point depends on ``seed`` and the trial's number only, and `random_point` returns it. So
        with the same seed, a larger study begins with the points of a smaller one. The server
        computes a point when a device gets it: a million trials take no longer to submit than ten.

        Parameters
        ----------
        objective
            As for `grid`.
        space
            A mapping of names to distributions: `uniform`, `integer`, `choice` or a list of values,
            which means `choice`. It has at most 64 names.
        data, name
            As for `grid`.
        trials
            The number of points.
        dry_run, **options
            The keyword arguments of `grid`. ``seed`` also determines the points.

        Returns
        -------
        Study
            As for `grid`, whose errors it raises too.
        """
        return self._submitted("random", trials, objective, space, data, name, dry_run, options)

    @overload
    def sobol(
        self,
        objective: Objective,
        space: SearchSpace,
        data: Data | None = ...,
        name: str | None = ...,
        *,
        trials: int,
        dry_run: Literal[False] = ...,
        **options: Unpack[GridOptions],
    ) -> Coroutine[Any, Any, AsyncStudy]: ...

    @overload
    def sobol(
        self,
        objective: Objective,
        space: SearchSpace,
        data: Data | None = ...,
        name: str | None = ...,
        *,
        trials: int,
        dry_run: Literal[True, "cpython", "browser"],
        **options: Unpack[GridOptions],
    ) -> Coroutine[Any, Any, DryRun]: ...

    def sobol(
        self,
        objective: Objective,
        space: SearchSpace,
        data: Data | None = None,
        name: str | None = None,
        *,
        trials: int,
        dry_run: DryRunChoice = False,
        **options: Unpack[GridOptions],
    ) -> Coroutine[Any, Any, AsyncStudy | DryRun]:
        """Submit ``trials`` points of Sobol's sequence in ``space`` as trials of one study.

        The points fill the space more evenly than random ones, best where ``trials`` is a power of
        2. ``seed`` scrambles them. `sobol_point` returns a point. The parameters are those of
        `random`.
        """
        return self._submitted("sobol", trials, objective, space, data, name, dry_run, options)

    def _submitted(
        self,
        method: Method | None,
        trials: int,
        objective: Objective,
        space: Space | SearchSpace,
        data: Data | None,
        name: str | None,
        dry_run: DryRunChoice,
        options: GridOptions,
    ) -> Coroutine[Any, Any, AsyncStudy | DryRun]:
        # This method is no coroutine: it reads the caller's stack and the current values when it
        # is called. The coroutine that it returns only sends.
        if dry_run not in (False, True, "cpython", "browser"):
            raise HyperflockError(
                f"dry_run is {dry_run!r}, but may be True, 'cpython' or 'browser'",
                code="bad_field",
                field="dry_run",
            )
        given: dict[str, Any] = dict(options)
        progress = given.pop("progress", None)
        once = given.pop("once", False)
        key = key_of(name, given.pop("submit_key", None), once=once)
        wheels = given.pop("wheels", ())
        chainer_of(given.get("runtime", DEFAULT_RUNTIME))
        requirements_of(given.get("requires"))
        webhook_of(given.get("webhook"), given.get("webhook_events"))
        dimensions_of(space, method or kind_of(space))
        bundle = bundle_objective(objective, read_wheels(wheels))
        backend_of(given.get("backend"), bundle)

        async def submitted() -> AsyncStudy | DryRun:
            made = Submission(
                bundle=bundle,
                space=space,
                data=await _loop.in_thread(lambda: prepare(data)),
                name=name or name_of(objective),
                submit_key=key,
                extends=once,
                method=method,
                trials=trials,
                **given,
            )
            if dry_run == "browser":
                return await self.try_in_browser(made)
            if dry_run:
                return await made.dry_run("cpython")
            return await self.submit(made, progress)

        return submitted()


class Searches(ABC):
    """The methods of `Client` that submit a search."""

    _core: AsyncSearches

    @overload
    def grid(
        self,
        objective: Objective,
        space: Space,
        data: Data | None = ...,
        name: str | None = ...,
        *,
        dry_run: Literal[False] = ...,
        **options: Unpack[GridOptions],
    ) -> Study: ...

    @overload
    def grid(
        self,
        objective: Objective,
        space: Space,
        data: Data | None = ...,
        name: str | None = ...,
        *,
        dry_run: Literal[True, "cpython", "browser"],
        **options: Unpack[GridOptions],
    ) -> DryRun: ...

    @described_as(AsyncSearches.grid)
    def grid(self, *arguments: Any, **options: Any) -> Study | DryRun:
        made = _loop.run(self._core.grid(*arguments, **options))
        return made if isinstance(made, DryRun) else Study(made)

    @overload
    def random(
        self,
        objective: Objective,
        space: SearchSpace,
        data: Data | None = ...,
        name: str | None = ...,
        *,
        trials: int,
        dry_run: Literal[False] = ...,
        **options: Unpack[GridOptions],
    ) -> Study: ...

    @overload
    def random(
        self,
        objective: Objective,
        space: SearchSpace,
        data: Data | None = ...,
        name: str | None = ...,
        *,
        trials: int,
        dry_run: Literal[True, "cpython", "browser"],
        **options: Unpack[GridOptions],
    ) -> DryRun: ...

    @described_as(AsyncSearches.random)
    def random(self, *arguments: Any, **options: Any) -> Study | DryRun:
        made = _loop.run(self._core.random(*arguments, **options))
        return made if isinstance(made, DryRun) else Study(made)

    @overload
    def sobol(
        self,
        objective: Objective,
        space: SearchSpace,
        data: Data | None = ...,
        name: str | None = ...,
        *,
        trials: int,
        dry_run: Literal[False] = ...,
        **options: Unpack[GridOptions],
    ) -> Study: ...

    @overload
    def sobol(
        self,
        objective: Objective,
        space: SearchSpace,
        data: Data | None = ...,
        name: str | None = ...,
        *,
        trials: int,
        dry_run: Literal[True, "cpython", "browser"],
        **options: Unpack[GridOptions],
    ) -> DryRun: ...

    @described_as(AsyncSearches.sobol)
    def sobol(self, *arguments: Any, **options: Any) -> Study | DryRun:
        made = _loop.run(self._core.sobol(*arguments, **options))
        return made if isinstance(made, DryRun) else Study(made)


def name_of(objective: Objective) -> str:
    """Return an objective's name for people: the function's, or the class's."""
    inner: Any = getattr(objective, "func", objective)
    name = getattr(inner, "__name__", type(inner).__name__)
    return "objective" if name == "<lambda>" else str(name)
