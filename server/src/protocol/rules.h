// The checks of messages that cannot be expressed in the protocol's schema. The schema calls the
// functions by name. Used only by the codec.
#pragma once

#include <string>

#include "protocol/field_kinds.h"
#include "protocol/messages.h"

namespace hyperflock::protocol {

std::string read_sha256(const Value& in);
// Reads the name of a file that a device creates. A valid name cannot lead out of the file's
// folder.
std::string read_file_name(const Value& in);
// Reads a text of the form `module:function`.
std::string read_module_function(const Value& in);

// Reads the address of a webhook. Whether the server may post to the address is not checked here.
std::string read_webhook_url(const Value& in);

// A hello of another version may have other fields. It is refused because of its version and not
// because of its fields.
inline bool has_this_version(const Hello& hello) { return hello.protocol == kProtocolVersion; }

// Checks the columns of a report's series; see series_codec.cc.
void series_rule(Reader& codec, Report& report);
void series_rule(Writer& codec, const Report& report);

// Each of these checks fields of a study spec that depend on each other; see study_codec.cc and
// space_codec.cc.
void direction_rule(Reader& codec, StudySpec& spec);
void direction_rule(Writer& codec, const StudySpec& spec);
void directions_rule(Reader& codec, StudySpec& spec);
void directions_rule(Writer& codec, const StudySpec& spec);
void space_rule(Reader& codec, StudySpec& spec);
void space_rule(Writer& codec, const StudySpec& spec);
void grown_rule(Reader& codec, StudySpec& spec);
void grown_rule(Writer& codec, const StudySpec& spec);
void trials_rule(Reader& codec, StudySpec& spec);
void trials_rule(Writer& codec, const StudySpec& spec);
void data_rule(Reader& codec, StudySpec& spec);
void data_rule(Writer& codec, const StudySpec& spec);
void value_range_rule(Reader& codec, StudySpec& spec);
void value_range_rule(Writer& codec, const StudySpec& spec);
void provenance_rule(Reader& codec, StudySpec& spec);
void provenance_rule(Writer& codec, const StudySpec& spec);
void data_rule(Reader& codec, NewCode& code);
void data_rule(Writer& codec, const NewCode& code);
void provenance_rule(Reader& codec, NewCode& code);
void provenance_rule(Writer& codec, const NewCode& code);

}  // namespace hyperflock::protocol
