# The protocol's schema.
# shellcheck shell=bash

# Tests that generated files are current, and that C++, TypeScript and Python reject code that forgets a field.
step_protocol_test() { run_pytest protocol/tests; }
