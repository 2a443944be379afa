// Reads a small JSON body into a struct. Never throws. Pure; any thread.
#pragma once

#include <string_view>

#include "protocol/json/json_reader.h"

namespace hyperflock::http {

// Parses the text as an object, and lets `read(in, query)` copy its fields into `query`.
template <typename Query, typename Read>
Result<Query> parse_body(std::string_view body, Read read) {
  TRY(auto json, protocol::parse_object(body));
  protocol::Problem problem;
  Query query;
  read(protocol::Value(json, problem), query);
  if (problem.found()) return problem.error();
  return query;
}

}  // namespace hyperflock::http
