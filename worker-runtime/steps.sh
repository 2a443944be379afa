# The browser runtime (Pyodide, NumPy, Chainer) and the worker's threads.
# shellcheck shell=bash

# Brotli at level 9 takes 2 s. Level 11 takes 25 s and saves 0.4 MB, so only images and releases use it.
step_runtime() {
  python3 worker-runtime/runtime/gather.py --cache build/cache --out build/runtime --node build/venv/bin/node \
    --brotli-quality "${BROTLI_QUALITY:-9}"
}

# The volunteer for Node, which wheels bring for machines without a browser.
step_volunteer() {
  local key
  key=$(fingerprint worker-runtime/src worker-runtime/node worker-runtime/vite.volunteer.config.ts package-lock.json)
  up_to_date volunteer "$key" && [[ -f build/volunteer/volunteer.js ]] && return 0
  npx vite build --logLevel warn --config worker-runtime/vite.volunteer.config.ts
  mark volunteer "$key"
}

step_runtime_test() { run_pytest worker-runtime/runtime worker-runtime/python; }

step_worker_test() { run_vitest worker-runtime; }
