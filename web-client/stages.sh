# The pages.

stage web "npm"
do_web() {
  local key
  key=$(fingerprint web-client worker-runtime/src package-lock.json)
  up_to_date web "$key" && [[ -f build/web/join.html && -f build/web/console/research.html && -f build/web/local-run.json ]] && return 0
  npm run build --silent -w web-client
  mark web "$key"
}

stage web_test "web browser"
do_web_test() {
  npm test --silent -w web-client
  npm run test:browser --silent -w web-client
}
