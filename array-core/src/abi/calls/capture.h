// Steps that are recorded and run again (runtime/capture/captures.h). Touched by Python's thread
// only.
//
// AC_CALL_CAPTURE_BEGIN, _END, _ABORT: no words. Begin, end or drop a recording. Return 0.
//
// AC_CALL_CAPTURE_POSITION: no words. Returns twice the number of commands recorded so far, plus 1
// where the recording can no longer be played.
//
// AC_CALL_CAPTURE_COMPARE: no words. Returns the id of a new array of uint32 and shape (n, 7). For
// each scalar that differs between the two newest recordings it has the command, the argument and
// the dtype (-1: 32 bits of a raw kernel's uniforms), then the bits in the first and in the second
// recording, low word first.
//
// AC_CALL_CAPTURE_BLAME: no words. Returns the command at which the last comparison failed.
//
// AC_CALL_CAPTURE_BUILD: for each differing scalar, which of a play's values it is. Returns the
// capture's number, and drops the recordings.
//
// AC_CALL_CAPTURE_PLAY: a capture's number, then the bits of each value, two words each. Returns 0.
//
// AC_CALL_CAPTURE_RESUME: a capture's number. Issues the rest of a play that failed. Returns 0.
//
// AC_CALL_CAPTURE_CLOSE: a capture's number. Returns 0.
//
// AC_CALL_CAPTURE_ABOUT: a capture's number, then a question. Returns for 0 the number of commands,
// for 1 the values of a play, for 2 the KiB of its own storage, for 3 the arrays that each step
// makes anew from the step before's, for 4 whether a play was interrupted.
//
// AC_CALL_CAPTURE_KEEPS: a capture's number, a dtype (the number of dtypes: 32 bits of a raw
// kernel's uniforms), then two words of bits. Returns whether a launch has a scalar of these bits
// that plays do not replace.
//
// AC_CALL_CAPTURE_ORIGIN: the id of an array. Returns 0 where the step that was just recorded made
// its storage, otherwise a number that no other storage has.
#pragma once

#include "abi/calls/calls.h"
