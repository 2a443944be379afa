// Reads and writes messages as JSON text. Only this codec,
// study_codec and space_codec read JSON that a peer sent. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/messages.h"
#include "protocol/study_spec.h"

namespace hyperflock::protocol {

// Reads the text of a frame. Never throws. The error has a code of protocol.md and the path of the
// wrong field.
Result<ClientMessage> parse_client_message(std::string_view text);

// What an error names of an invalid message (R3): a call's id, or the numbers of a message that is
// sent until it is acknowledged.
struct RefusedNumbers {
  std::optional<std::int64_t> call{};
  std::optional<AttemptId> attempt{};
  std::optional<std::int64_t> seq{};
};
RefusedNumbers refused_numbers(std::string_view text);

// Reads a server message, for golden tests and the emulator. The rows of `update` stay JSON text.
Result<ServerMessage> parse_server_message(std::string_view text);

std::string serialize(const ServerMessage& message);
// Appends the `lines` of a `log` message. The REST interface uses the function too.
void append_log_lines(std::string& out, const std::vector<LogLine>& lines);
// Each of these appends an object: `{"chainer", "backend"?}`, the requirements of a study, or the
// facts of a GPU.
void append_runtime(std::string& out, std::string_view chainer, std::string_view backend);
void append_requirements(std::string& out, const Requirements& wanted);
void append_gpu(std::string& out, const GpuFacts& gpu);
std::string serialize(const ClientMessage& message);

// Reads the body of POST /api/studies.
Result<StudySpec> parse_study_spec(std::string_view text);
std::string serialize_study_spec(const StudySpec& spec);
// Each of these reads the body of one request: POST /api/studies/<id>/replay or /priority.
Result<Reissue> parse_reissue(std::string_view text);
Result<NewPriority> parse_new_priority(std::string_view text);
// Reads the body of POST /api/studies/<id>/extend, for a study of this kind (R65).
Result<Extension> parse_extension(std::string_view text, StudyKind kind);
// Reads the body of POST /api/studies/<id>/webhook.
Result<Webhook> parse_webhook(std::string_view text);
// Appends a study's space as `[{"name", "values", "range"?}, ...]`.
void append_space(std::string& out, const std::vector<Dimension>& space);

}  // namespace hyperflock::protocol
