# The browser runtime (Pyodide, NumPy, Chainer) and the worker's threads.

# Brotli 9 costs 2 s where 11 costs 25 and saves 0.4 MB; images are built with 11.
stage runtime "tools array_core_wasm"
do_runtime() {
  python3 worker-runtime/runtime/gather.py --cache build/cache --out build/runtime --node build/venv/bin/node \
    --brotli-quality "${BROTLI_QUALITY:-9}"
}

stage runtime_test "runtime python_package"
do_runtime_test() { python3 -m pytest -q -p no:cacheprovider worker-runtime/runtime worker-runtime/python; }

stage worker_test "npm browser"
do_worker_test() { npm test --silent -w worker-runtime; }
