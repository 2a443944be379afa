// What passes between the owner of an asked study and the server, read and written. Used by the
// codecs only.
#pragma once

#include <string>

#include "protocol/json_reader.h"
#include "protocol/messages.h"

namespace hyperflock::protocol {

OwnerClaim read_claim(const Value& in);
OwnerReply read_owner_reply(const Value& in);
OwnerCall read_owner_call(const Value& in);
// `args.name` of a suggest call.
std::string read_suggest_name(const Value& args);

void append_claim(std::string& out, const OwnerClaim& claim);
// A whole message each.
void append_owner_reply(std::string& out, const OwnerReply& reply);
void append_owner_call(std::string& out, const OwnerCall& call);

}  // namespace hyperflock::protocol
