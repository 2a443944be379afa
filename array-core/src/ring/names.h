// Returns stable names of error codes and opcodes, and the exception that Python raises for a code.
// Any thread.
#pragma once

#include <string_view>

#include "base/result.h"
#include "ring/commands.h"

namespace arraycore::ring {

constexpr std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::none:
      return "none";
    case ErrorCode::validation:
      return "validation";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::shader:
      return "shader";
    case ErrorCode::device_internal:
      return "device_internal";
    case ErrorCode::unknown_buffer:
      return "unknown_buffer";
    case ErrorCode::unknown_pipeline:
      return "unknown_pipeline";
    case ErrorCode::bad_binding:
      return "bad_binding";
    case ErrorCode::bad_range:
      return "bad_range";
    case ErrorCode::bad_command:
      return "bad_command";
    case ErrorCode::bad_address:
      return "bad_address";
    case ErrorCode::over_limit:
      return "over_limit";
    case ErrorCode::device_lost:
      return "device_lost";
    case ErrorCode::no_adapter:
      return "no_adapter";
    case ErrorCode::no_device:
      return "no_device";
  }
  return "unknown_error";
}

constexpr std::string_view name_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::pad:
      return "pad";
    case Opcode::create_buffer:
      return "create_buffer";
    case Opcode::destroy_buffer:
      return "destroy_buffer";
    case Opcode::upload:
      return "upload";
    case Opcode::upload_inline:
      return "upload_inline";
    case Opcode::copy:
      return "copy";
    case Opcode::fill:
      return "fill";
    case Opcode::create_pipeline:
      return "create_pipeline";
    case Opcode::destroy_pipeline:
      return "destroy_pipeline";
    case Opcode::dispatch:
      return "dispatch";
    case Opcode::read:
      return "read";
    case Opcode::fence:
      return "fence";
    case Opcode::timestamp_begin:
      return "timestamp_begin";
    case Opcode::timestamp_end:
      return "timestamp_end";
    case Opcode::label:
      return "label";
    case Opcode::trace:
      return "trace";
  }
  return "unknown_command";
}

constexpr ErrorKind kind_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::out_of_memory:
      return ErrorKind::memory;
    case ErrorCode::device_lost:
    case ErrorCode::no_adapter:
    case ErrorCode::no_device:
      return ErrorKind::device_lost;
    default:
      return ErrorKind::device;
  }
}

}  // namespace arraycore::ring
