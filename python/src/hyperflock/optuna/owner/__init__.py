"""Runs an Optuna study whose trials compute on devices: asks, answers calls, stores results."""
