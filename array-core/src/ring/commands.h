// The contract between array-core (the issuer) and the executor that owns the device. It defines
// the words of the control block and the commands of the ring, all 32-bit little-endian words in
// the WebAssembly module's shared memory. docs/ring.md explains them.
// worker-runtime/src/gpu/ring/layout.ts repeats the numbers, and a test compares the two files:
// keep one `name = number,` a line.
//
// Data only: any thread may use it.
#pragma once

#include <cstdint>

namespace arraycore::ring {

inline constexpr std::uint32_t kMagic = 0x31524341;  // "ACR1": changes with the layout
inline constexpr std::uint32_t kControlWords = 352;
inline constexpr std::uint32_t kErrorTextBytes = 512;
inline constexpr std::uint32_t kDeviceTextBytes = 256;
inline constexpr std::uint32_t kMaxBindings = 24;
inline constexpr std::uint32_t kMaxUniformWords = 256;
inline constexpr std::uint32_t kBindingAlignment =
    256;                                       // the alignment of a binding's offset in its buffer
inline constexpr std::uint32_t kSliceMs = 50;  // the longest uninterrupted wait
inline constexpr std::uint32_t kSilenceMs =
    1500;  // an executor that promised nothing else counts as silent after this time
inline constexpr std::uint32_t kStartSilenceMs = 20000;  // while an executor's thread starts
inline constexpr std::uint32_t kHeartbeatMs = 250;       // how often an executor moves `progress`
inline constexpr std::uint32_t kNoPosition =
    0xFFFFFFFF;  // the position of an error that no single command caused
inline constexpr std::uint32_t kTraceWords = 6;     // of each dispatch that `trace` records
inline constexpr std::uint32_t kDispatchWords = 7;  // of a dispatch without bindings and uniforms
inline constexpr std::uint32_t kCloseRequest = 0xFFFFFFFF;
// Values of `sleeps`: 0 if the executor is awake; otherwise how it must be woken.
inline constexpr std::uint32_t kSleepsOnWord = 1;
inline constexpr std::uint32_t kSleepsForMessage = 2;
// Values of `interrupt`: 0, or the exception that Python must raise. The issuer clears
// kInterruptOnce when it has read this value; kInterruptRevoke stays set.
inline constexpr std::uint32_t kInterruptOnce = 1;
inline constexpr std::uint32_t kInterruptRevoke = 2;

// Words of the control block. Each cache line of 16 words is written by one side only, so that the
// two sides do not compete for it. Words that both sides write have a cache line of their own.
enum class Word : std::uint32_t {
  // The issuer sets the next words before an executor attaches.
  magic = 0,
  ring_address = 1,  // byte address of the ring's first word
  ring_words = 2,    // a power of two
  strict = 3,        // 1: each command gets an error scope and a submit of its own
  wanted = 4,        // the Backend that the executor opens; none: WebGPU
  // Only the issuer writes the next words.
  written = 16,  // words published since the beginning, modulo 2^32
  request = 17,  // number of the newest reset, or kCloseRequest
  // Only the executor writes the next words.
  consumed = 32,    // words taken, modulo 2^32
  fence_done = 33,  // the newest fence before which everything is done
  state = 34,       // State
  answered = 35,    // number of the newest reset that is done
  progress = 36,    // changes while the executor lives
  silence_ms = 37,  // the executor promises to change `progress` within this time; 0: kSilenceMs;
                    // at first kStartSilenceMs
  signal = 38,      // changes, with a wake-up, after any change that an issuer may wait for
  // Both sides write the next words.
  sleeps = 48,      // the executor sets it and sleeps on it; the issuer clears it and wakes
  interrupt = 49,   // any thread sets it (then adds to `signal` and notifies); the issuer clears
  error_full = 50,  // the executor fills the error slot and sets 1; the issuer reads and clears
  // The next words are counters of the executor.
  commands = 64,
  dispatches = 65,
  submits = 66,
  pipelines_created = 67,
  errors_dropped = 68,  // errors raised while the slot was full
  bind_groups_created = 69,
  bytes_up = 70,  // 64 bits, low word first
  bytes_up_high = 71,
  bytes_down = 72,
  bytes_down_high = 73,
  sleeps_taken = 74,  // how often the executor slept
  buffers_live = 75,
  buffer_bytes_live = 76,  // 64 bits
  buffer_bytes_live_high = 77,
  // The error slot contains one error until the issuer has read it.
  error_code = 80,      // ErrorCode
  error_position = 81,  // the command's position in words since the beginning, or kNoPosition
  error_opcode = 82,    // Opcode
  error_tag = 83,       // the dispatch's tag; 0 elsewhere
  error_text_bytes = 84,
  error_text = 88,  // kErrorTextBytes of UTF-8
  // The next words describe the device. Sizes are in bytes, and at most 2^32-4.
  backend = 224,  // Backend
  capability_flags = 225,
  max_buffer_bytes = 226,
  max_binding_bytes = 227,
  max_storage_buffers = 228,
  max_workgroup_bytes = 229,
  max_invocations = 230,
  max_workgroup_x = 231,
  max_workgroup_y = 232,
  max_workgroup_z = 233,
  max_grid = 234,  // workgroups in one dimension of a dispatch
  min_subgroup = 235,
  max_subgroup = 236,
  max_uniform_bytes = 237,
  device_text_bytes = 238,
  device_text = 240,  // kDeviceTextBytes: vendor, architecture, device, description; one a line
};

enum class State : std::uint32_t {
  absent = 0,  // no executor yet; commands wait in the ring
  running = 1,
  lost = 2,    // the device is lost, or there was none; commands are dropped until a reset
  gone = 3,    // its thread has ended
  closed = 4,  // as requested
};

enum class Backend : std::uint32_t {
  none = 0,
  recording = 1,
  webgpu = 2,
  webgl2 = 3,
};

enum class Capability : std::uint32_t {  // bits of capability_flags
  shader_f16 = 1,
  subgroups = 2,
  timestamps = 4,
  fallback_adapter = 8,  // a software device, which must be named as one
  shared_uploads = 16,   // uploads read the module's memory without a copy in between
};

enum class ErrorCode : std::uint32_t {
  none = 0,
  validation = 1,
  out_of_memory = 2,
  shader = 3,
  device_internal = 4,
  unknown_buffer = 5,
  unknown_pipeline = 6,
  bad_binding = 7,
  bad_range = 8,
  bad_command = 9,
  bad_address = 10,
  over_limit = 11,
  device_lost = 12,
  no_adapter = 13,
  no_device = 14,
};

// A command's first word is `opcode | words << 8`, where `words` counts the first word too. A
// command never wraps around the ring's end: the command `pad` fills the remaining words.
enum class Opcode : std::uint32_t {
  pad = 0,
  create_buffer = 1,   // id, bytes, label address, label bytes
  destroy_buffer = 2,  // id
  upload = 3,          // id, offset, address, bytes
  upload_inline = 4,   // id, offset, bytes, then the bytes
  copy = 5,            // source id, offset, target id, offset, bytes
  fill = 6,            // id, offset, bytes, value
  // Operands: id, address and bytes of the text, address and bytes of the label, uniform bytes,
  // number of bindings, and a word with a bit for each binding that is read_write.
  create_pipeline = 7,
  destroy_pipeline = 8,  // id
  // Operands: tag, pipeline, workgroups along x, y and z, number of bindings | number of uniform
  // words << 16; then for each binding: buffer, offset, bytes; then the uniform words.
  dispatch = 9,
  read = 10,             // id, offset, address, bytes
  fence = 11,            // number
  timestamp_begin = 12,  // no words
  timestamp_end = 13,    // address of two 64-bit nanoseconds: begin, end
  label = 14,            // address, bytes: the operation to which the next commands belong
  trace = 15,  // address, number: each of the next `number` dispatches leaves kTraceWords there; 0
               // ends the trace
};

constexpr std::uint32_t header(Opcode opcode, std::uint32_t words) {
  return static_cast<std::uint32_t>(opcode) | words << 8;
}
constexpr std::uint32_t words_of(std::uint32_t header_word) { return header_word >> 8; }
constexpr Opcode opcode_of(std::uint32_t header_word) {
  return static_cast<Opcode>(header_word & 0xFF);
}
constexpr std::uint32_t at(Word word) { return static_cast<std::uint32_t>(word); }

}  // namespace arraycore::ring
