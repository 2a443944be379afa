// Raises each error code about packs, which browsers fetch only for a study that needs them.
#pragma once

#include <map>
#include <string>

#include "tests/support/test_server.h"

namespace hyperflock::app {

// Adds a way to raise each of the codes to a table of such ways.
inline std::map<std::string, std::string (*)()> with_packs(
    std::map<std::string, std::string (*)()> table) {
  table.insert({
      {"missing_pack",
       [] {
         const TestServer server;
         const std::string bundle = "PK hyperflock needs scipy";
         return code_of(
             server.rest("POST", "/api/studies",
                         TestServer::spec(1, "k", server.upload(bundle), bundle.size())));
       }},
      {"pack_mismatch",
       [] {
         const TestServer server;
         std::string spec = TestServer::spec(1, "k", server.upload("b"), 1);
         spec.insert(1, R"("packs":[{"name":"scipy","version":"1.18.0"}],)");
         return code_of(server.rest("POST", "/api/studies", spec));
       }},
  });
  return table;
}

}  // namespace hyperflock::app
