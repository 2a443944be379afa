// The state machine of the ring. It covers a full ring, waits for a fence, errors, a lost device,
// interrupts, a revoke, an executor that ended, reset and close. Each step makes at most one access
// to shared memory and returns what the host must do next. So the model checker (model_test.cc) can
// explore every interleaving of the functions that run in production.
//
// Issuer (issuer_state.h) runs on the issuing thread; Drain and Announcement (executor_state.h) run
// on the executor's. All three are plain data. The executor in worker-runtime/src/gpu/ring/drain.ts
// takes the same steps in the same order.
#pragma once

#include "ring/executor_state.h"
#include "ring/issuer_state.h"
