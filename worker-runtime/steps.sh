# The browser runtime (Pyodide, NumPy, Chainer) and the worker's threads.
# shellcheck shell=bash

# Brotli 9 costs 2 s where 11 costs 25 and saves 0.4 MB; images are built with 11.
step_runtime() {
  python3 worker-runtime/runtime/gather.py --cache build/cache --out build/runtime --node build/venv/bin/node \
    --brotli-quality "${BROTLI_QUALITY:-9}"
}

step_runtime_test() { run_pytest worker-runtime/runtime worker-runtime/python; }

step_worker_test() { run_vitest worker-runtime; }
