# array-core as WebAssembly, its Python package's tests on both bridges, and `./run python`.

# shellcheck source=/dev/null
. "$ROOT/array-core/wasm/emscripten.sh"

stage emscripten "system"
do_emscripten() { emscripten_setup; }

stage array_core_wasm "emscripten tools"
do_array_core_wasm() {
  local key
  key=$(fingerprint CMakeLists.txt array-core/CMakeLists.txt array-core/include array-core/src array-core/wasm)
  up_to_date array_core_wasm "$key" && [[ -f build/arraycore/arraycore.wasm ]] && return 0
  wasm_build build/arraycore
  node array-core/wasm/size.mjs build/arraycore/arraycore.wasm
  mark array_core_wasm "$key"
}

# The pure wheels that `./run python -m pytest` unpacks.
stage test_wheels "tools"
do_test_wheels() { python3 worker-runtime/node/test_wheels.py --cache build/cache --node build/venv/bin/node; }

# One suite, two bridges: ctypes on ordinary CPython, WebAssembly in the worker runtime; then the command itself.
stage array_core_python_test "array_core_wasm server runtime npm test_wheels browser" alone
do_array_core_python_test() {
  local suite=(-m pytest -q -p no:cacheprovider -c array-core/python/pyproject.toml --rootdir array-core/python array-core/python/tests)
  ARRAYCORE_LIBRARY="$ROOT/build/release/lib/libarraycore.so" PYTHONPATH=array-core/python python3 "${suite[@]}"
  "${PYTHON_COMMAND[@]}" --mount array-core/python "${suite[@]}"
  "${PYTHON_COMMAND[@]}" --host chromium --mount array-core/python "${suite[@]}"
  "${PYTHON_COMMAND[@]}" --host chromium --backend webgpu --mount array-core/python "${suite[@]}"
  python3 -m pytest -q -p no:cacheprovider worker-runtime/node/tests
}

PYTHON_STAGES=(array_core_wasm runtime npm test_wheels)
PYTHON_COMMAND=(node --disable-warning=ExperimentalWarning worker-runtime/node/python_command.ts)
