# Builds the browser runtime (Pyodide, NumPy, Chainer) and tests the worker's threads.
# shellcheck shell=bash

# Builds the runtime. Brotli's level 9 takes 2 s. Level 11 takes 25 s and saves 0.4 MB; only images and releases use it.
step_runtime() {
  python3 worker-runtime/runtime/gather.py --cache build/cache --out build/runtime --node build/venv/bin/node \
    --brotli-quality "${BROTLI_QUALITY:-9}"
}

# Builds the packs: packages that only some studies need.
step_packs() {
  python3 worker-runtime/runtime/gather_packs.py --cache build/cache --out build/packs --node build/venv/bin/node \
    --brotli-quality "${BROTLI_QUALITY:-9}"
}

# Builds the volunteer for Node, which wheels contain for machines without a browser.
step_volunteer() {
  local key
  key=$(fingerprint worker-runtime/src worker-runtime/node worker-runtime/vite.volunteer.config.ts package-lock.json)
  up_to_date volunteer "$key" && [[ -f build/volunteer/volunteer.js ]] && return 0
  npx vite build --logLevel warn --config worker-runtime/vite.volunteer.config.ts
  mark volunteer "$key"
}

step_runtime_test() { run_pytest worker-runtime/runtime worker-runtime/python; }

step_worker_test() { run_vitest worker-runtime; }
