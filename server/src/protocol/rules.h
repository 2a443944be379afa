// What the protocol's schema cannot say: checks written by hand, which the schema calls by name.
// Used by the codec only.
#pragma once

#include <string>

#include "protocol/field_kinds.h"
#include "protocol/messages.h"

namespace hyperflock::protocol {

std::string read_sha256(const Value& in);
// The name of a file that is made on a device: it names nothing outside its folder.
std::string read_file_name(const Value& in);
// `module:function`.
std::string read_module_function(const Value& in);

// The rest of another version's hello may look different: that hello is refused by its version, not
// by its fields.
inline bool has_this_version(const Hello& hello) { return hello.protocol == kProtocolVersion; }

// The study spec's fields that depend on each other; see study_codec.cc.
void direction_rule(Reader& codec, StudySpec& spec);
void direction_rule(Writer& codec, const StudySpec& spec);
void directions_rule(Reader& codec, StudySpec& spec);
void directions_rule(Writer& codec, const StudySpec& spec);
void space_rule(Reader& codec, StudySpec& spec);
void space_rule(Writer& codec, const StudySpec& spec);
void data_rule(Reader& codec, StudySpec& spec);
void data_rule(Writer& codec, const StudySpec& spec);
void provenance_rule(Reader& codec, StudySpec& spec);
void provenance_rule(Writer& codec, const StudySpec& spec);

}  // namespace hyperflock::protocol
