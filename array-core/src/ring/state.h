// The one state machine of the ring: ring full, fence wait, error, device loss, interrupt, revoke,
// executor gone, reset and close. Each step makes at most one access to shared memory and says what
// the host must do next, so that the model checker (model_test.cc) explores every interleaving of
// the very functions that run.
//
// Issuer (issuer_state.h) runs on the issuing thread; Drain and Announcement (executor_state.h) run
// on the executor's. All three are plain data. The executor in worker-runtime/src/gpu/ring/drain.ts
// takes the same steps in the same order.
#pragma once

#include "ring/executor_state.h"
#include "ring/issuer_state.h"
