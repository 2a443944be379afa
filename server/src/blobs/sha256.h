// Computes SHA-256 in pieces or at once, as lower-case hex. One thread at a time uses a Sha256.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace hyperflock::blobs {

class Sha256 {
 public:
  Sha256();

  void update(std::span<const std::byte> bytes);
  // Returns the digest of all bytes. Call it once, after the last of them.
  std::string hex();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

std::string sha256_hex(std::string_view bytes);

// Returns whether the text is 64 lower-case hex digits. Such a text has no `/` or `..`, so a file
// with this name is always inside its folder.
bool is_sha256(std::string_view text);

}  // namespace hyperflock::blobs
