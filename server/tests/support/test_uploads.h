// Sends a device's requests about checkpoints and artifacts, and checks the stored files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/testing/patience.h"
#include "blobs/sha256.h"
#include "storage/sqlite/open.h"
#include "tests/support/test_server.h"

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

// A server, and a device that may save checkpoints and artifacts of at most 10 bytes.
struct Saving {
  explicit Saving(std::uint64_t max_bytes = 10)
      : server([max_bytes](ServeConfig& config) {
          config.max_checkpoint_bytes = max_bytes;
          config.max_artifact_bytes = max_bytes;
        }),
        device(server.join()),
        worker(server, device) {
    server.submit(1);
    attempt = to_int(worker.ready().attempt);
  }
  std::string save(const std::string& bytes) const {
    return put("checkpoints", "format=tree", bytes);
  }
  std::string upload(const std::string& id, const std::string& bytes) const {
    return put("artifacts", "name=n&type=t&id=" + id, bytes);
  }
  std::string put(const std::string& what, const std::string& query,
                  const std::string& bytes) const {
    return code_of(ask(server, device, "PUT",
                       "/api/attempts/" + std::to_string(attempt) + '/' + what + '/' +
                           blobs::sha256_hex(bytes) + '?' + query,
                       bytes));
  }
  // Uploads as many artifacts as the attempt may have.
  void fill() {
    server.restart([this] {
      const auto storage = storage::open_sqlite_storage(
          storage::database_of(server.config().state_dir), [] { return 1; });
      std::vector<storage::Transition> many;
      for (std::int64_t i = 0; i < storage::kMostArtifacts; ++i) {
        storage::StoreArtifact one{device.id, {}};
        one.artifact.id = "f" + std::to_string(i);
        one.artifact.attempt = AttemptId{attempt};
        many.emplace_back(std::move(one));
      }
      ASSERT_TRUE(storage.value()->apply(many).has_value());
    });
  }
  TestServer server;
  TestDevice device;
  TestWorker worker;
  std::int64_t attempt = 0;
};

}  // namespace hyperflock::app
