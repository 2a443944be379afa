"""A Chainer trainer's checkpoints in a trial that runs here: the worker's own code.

    trainer.extend(hyperflock.CheckpointExtension(trial))

A run on the researcher's machine begins at the beginning and keeps none.
"""

from __future__ import annotations

from hyperflock._execution.fast_step import worker_module

CheckpointExtension = worker_module("_trainer").CheckpointExtension
