// Signs the addresses of blobs, so that a proxy or a CDN can store the answers: an address needs no
// credential, and all devices of a project get the same one.
//
//   /blobs/PROJECT/UNTIL/SIGNATURE/SHA256
//
// PROJECT is the project's number and UNTIL a time in Unix seconds. Everything is in the path,
// because caches may be set to ignore a query: such a cache would answer forged addresses, too. Any
// thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hyperflock::auth {

class BlobLinks {
 public:
  struct Link {
    std::string path;
    std::int64_t until_s = 0;  // the path is valid before this time
  };

  // `key` is secret and random.
  explicit BlobLinks(std::string key) : key_(std::move(key)) {}

  // Reads the key from the file `link-key` in the folder of the blobs, or makes it there, readable
  // by its owner only. Servers that share the folder have one key. Errors: `file_unreadable`,
  // `file_unwritable`.
  static Result<BlobLinks> open(const std::filesystem::path& folder);

  // Returns the address of a blob at this time in Unix milliseconds. It changes once a day, at
  // midnight UTC, and is valid for 24 to 48 hours.
  Link sign(std::int64_t project, std::string_view sha256, std::int64_t now_ms) const;

  // Returns whether the signature is that of the other three, which are texts from the path. Takes
  // a time that does not depend on where a wrong one differs.
  bool is_signed(std::string_view project, std::string_view until, std::string_view sha256,
                 std::string_view signature) const;

 private:
  std::string signature_of(std::string_view project, std::string_view until,
                           std::string_view sha256) const;

  std::string key_;
};

// The name of the key's file.
inline constexpr const char* kLinkKeyFile = "link-key";

}  // namespace hyperflock::auth
