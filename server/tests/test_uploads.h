// Sends a device's requests about checkpoints and artifacts, and checks the stored files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/testing/patience.h"
#include "tests/test_server.h"

namespace hyperflock::app {

inline net::HttpAnswer ask(const TestServer& server, const TestDevice& device,
                           std::string_view method, const std::string& target,
                           std::string_view body = {}) {
  return net::http_request(server.compute(), method, target,
                           {{"Authorization", "Device " + device.id + ":" + device.secret}}, body);
}

inline std::string path_of(const protocol::Lease& lease) {
  return "/api/attempts/" + std::to_string(to_int(lease.attempt));
}

inline std::size_t files_in(const TestServer& server) {
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(server.file("state/checkpoints")))
    count += entry.is_regular_file();
  return count;
}

// Waits for this number of files. They are removed a moment after the commit that drops them.
inline bool files_become(const TestServer& server, std::size_t count) {
  return until([&] { return files_in(server) == count; });
}

}  // namespace hyperflock::app
