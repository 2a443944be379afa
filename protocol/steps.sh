# The protocol's schema.
# shellcheck shell=bash

# Generated files are current, and C++, TypeScript and Python refuse code that forgets a field.
step_protocol_test() { run_pytest protocol/tests; }
