// Steps that are recorded and run again (runtime/capture/captures.h). Touched by Python's thread
// only.
//
// AC_CALL_CAPTURE_BEGIN, _END, _ABORT: no words. A recording begins, ends, or is forgotten. Give 0.
// AC_CALL_CAPTURE_POSITION: no words. Gives twice the commands recorded so far, plus 1 where the
// recording cannot be played any more.
// AC_CALL_CAPTURE_COMPARE: no words. Gives the id of a new array of uint32 and shape (n, 7): for
// each scalar that differs between the two newest recordings its command, argument and dtype (-1:
// 32 bits of a raw kernel's uniforms), then its bits in the first and in the second, low word
// first. AC_CALL_CAPTURE_BLAME: no words. Gives the command that the last comparison failed at.
// AC_CALL_CAPTURE_BUILD: for each such scalar which of a play's values it is. Gives the capture's
// number. The recordings are forgotten.
// AC_CALL_CAPTURE_PLAY: a capture's number, then each value's bits, two words each. Gives 0.
// AC_CALL_CAPTURE_RESUME: a capture's number. Issues what a play that failed left. Gives 0.
// AC_CALL_CAPTURE_CLOSE: a capture's number. Gives 0.
// AC_CALL_CAPTURE_ABOUT: a capture's number, then what is asked: 0 commands, 1 values of a play,
// 2 KiB of storage of its own, 3 arrays that each step makes anew from the step before's, 4
// whether a play was interrupted.
// AC_CALL_CAPTURE_KEEPS: a capture's number, a dtype (their count: 32 bits of a raw kernel's), then
// two words of bits. Gives whether a launch has a scalar of these bits that plays are not given.
// AC_CALL_CAPTURE_ORIGIN: the id of an array. Gives 0 where the step that has just been recorded
// made its storage, else a number that no other storage has.
#pragma once

#include "abi/calls/calls.h"
