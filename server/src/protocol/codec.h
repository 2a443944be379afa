// JSON text <-> messages. The only place (with study_codec) where a peer's JSON is read. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "protocol/messages.h"
#include "protocol/study_spec.h"

namespace hyperflock::protocol {

// Reads one frame's text. Never throws. The error's code is one of protocol.md's; `field` names the
// offending path.
Result<ClientMessage> parse_client_message(std::string_view text);

// The id of a `call` that could not be read otherwise, so that its refusal reaches the caller (R3).
std::optional<std::int64_t> refused_call_id(std::string_view text);

// Reads a server message (golden tests, emulator). Rows of `update` stay JSON text.
Result<ServerMessage> parse_server_message(std::string_view text);

std::string serialize(const ServerMessage& message);
// The `lines` of a log, also for REST.
void append_log_lines(std::string& out, const std::vector<LogLine>& lines);
// `{"chainer", "backend"?}`, and what a study asks of devices.
void append_runtime(std::string& out, std::string_view chainer, std::string_view backend);
void append_requirements(std::string& out, const Requirements& wanted);
void append_gpu(std::string& out, const GpuFacts& gpu);
std::string serialize(const ClientMessage& message);

// Reads the body of POST /api/studies.
Result<StudySpec> parse_study_spec(std::string_view text);
std::string serialize_study_spec(const StudySpec& spec);

}  // namespace hyperflock::protocol
