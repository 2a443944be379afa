// Proofs that a person has the bytes of a blob (R69). The server gives a fresh random salt, and the
// person answers SHA-256(salt || bytes). So the upload of bytes that the server has can be left
// out, and nobody gets a blob by its hash alone.
//
//   const auto salt = proofs.new_salt({"ada", sha256, bytes});
//   const auto claim = proofs.take("ada", sha256, salt);  // once; nullopt: unknown
//   if (proofs.begin("ada")) ...                         // one computation at a time
//
// Salts are kept in memory only. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace hyperflock::http {

// A blob with fewer bytes is uploaded in any case, because such an upload costs little. So nobody
// can find out by a guess whether the server has a certain short text.
inline constexpr std::int64_t kLeastProvedBytes = 64 * 1024;

struct PossessionClaim {
  std::string person;
  std::string sha256;
  std::int64_t bytes = 0;
};

class Possession {
 public:
  static constexpr std::size_t kSaltsOfPerson = 64;
  static constexpr std::size_t kSalts = 4'096;

  // Returns a new salt: 64 hex digits. The oldest salts of a person who has many are forgotten.
  std::string new_salt(PossessionClaim claim);
  // Returns the claim for which this person got the salt, and forgets the salt.
  std::optional<PossessionClaim> take(std::string_view person, std::string_view sha256,
                                      std::string_view salt);

  // Notes that a proof of this person is being computed. Returns false if one is already.
  bool begin(const std::string& person);
  void end(const std::string& person);

 private:
  struct Salt {
    std::string text;
    PossessionClaim claim;
  };

  std::mutex mutex_;
  std::list<Salt> salts_;  // oldest first
  std::set<std::string, std::less<>> busy_;
};

// Returns SHA-256 of the salt's bytes and those of the file, as hex digits. Returns an empty text
// if there is no such file or if it cannot be read. Then `bytes` zero bytes are hashed, so that the
// duration does not reveal that the file is missing. May block. REQUIRES: the salt has hex digits.
std::string salted_hash(std::string_view salt, const std::optional<std::filesystem::path>& file,
                        std::int64_t bytes);

}  // namespace hyperflock::http
