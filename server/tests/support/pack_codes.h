// Raises each error code about packs, which browsers fetch only for a study that needs them.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "app/config.h"
#include "base/testing/scratch_folder.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {

// A folder of packs with the list of two: `a`, which needs `b`. Their files are missing.
class PackCodes {
 public:
  PackCodes() {
    const auto entry = [](const std::string& name, const std::string& needs) {
      return '"' + name + R"(":{"version":"1","base":"/runtime/)" + name +
             R"(-0123456789abcdef/","files":[{"name":"p.zip","sha256":")" + std::string(64, '0') +
             R"(","bytes":1}],"needs":[)" + needs + "]}";
    };
    write(R"({"pyodide":"1","packs":{)" + entry("a", R"("b")") + ',' + entry("b", "") + "}}");
  }

  void write(const std::string& list) const { std::ofstream(folder_.file("packs.json")) << list; }
  std::string file(const std::string& name) const { return folder_.file(name); }

  // Runs a command on the folder, and returns the code of its error.
  std::string run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "packs");
    arguments.insert(arguments.end(), {"--packs", folder_.path().string()});
    const Command command = parse_command_line(arguments);
    const std::string& text = std::get<Stop>(command).text;
    const std::size_t begin = text.rfind('(') + 1;
    return text.substr(begin, text.rfind(')') - begin);
  }

 private:
  ScratchFolder folder_;
};

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
      {"packs_malformed",
       [] {
         const PackCodes codes;
         codes.write("{");
         return codes.run({"list"});
       }},
      {"pack_damaged",
       [] {
         const PackCodes codes;
         const PackCodes source;
         return codes.run({"add", "b", "--from", source.file("")});
       }},
      {"pack_needed", [] { return PackCodes().run({"remove", "b"}); }},
      {"packs_busy",
       [] {
         const PackCodes codes;
         const int lock = ::open(codes.file(".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
         ::flock(lock, LOCK_EX);
         const std::string code = codes.run({"remove", "a"});
         ::close(lock);
         return code;
       }},
  });
  return table;
}

}  // namespace hyperflock::app
