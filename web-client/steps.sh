# Builds and tests the web pages.
# shellcheck shell=bash

step_web() {
  local key
  key=$(fingerprint web-client worker-runtime/src package-lock.json)
  up_to_date web "$key" && [[ -f build/web/join.html && -f build/web/console/research.html && -f build/web/local-run.json ]] && return 0
  npm run build --silent -w web-client
  mark web "$key"
}

step_web_test() {
  run_vitest web-client
  run_vitest web-client/tests
}
