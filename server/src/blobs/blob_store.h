// Blobs as files named by their SHA-256: FOLDER/ab/cdef... A file with such a name is always
// complete and has that hash.
//
//   auto writer = store.begin();                  // Result
//   writer->append(bytes);                        // as they come
//   auto stored = writer->finish(expected_sha256);  // Result: durable under its name, or gone
//
// A BlobStore may be used on any thread. A Writer belongs to one thread at a time; its calls block
// on the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "blobs/sha256.h"

namespace hyperflock::blobs {

class BlobStore {
 public:
  static constexpr std::uint64_t kDefaultMaxBytes = std::uint64_t{512} << 20;

  struct Stored {
    std::uint64_t bytes = 0;
    bool is_new = false;  // false: the same bytes were there before
  };

  // An upload. The destructor removes the temporary file unless finish() has succeeded.
  class Writer {
   public:
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    // Errors: `blob_too_large`, `no_room`, `storage_unavailable`. After an error the upload is
    // over.
    Status append(std::span<const std::byte> bytes);
    // Makes the bytes durable under their name. Errors: `hash_mismatch`, `storage_unavailable`.
    // Call it once, after the last append().
    Result<Stored> finish(std::string_view expected_sha256);

   private:
    friend class BlobStore;
    Writer(const BlobStore& store, std::filesystem::path temporary, int descriptor);
    Error failure(const std::string& what);
    void discard();

    const BlobStore& store_;
    std::filesystem::path temporary_;
    int descriptor_;
    std::uint64_t bytes_ = 0;
    Sha256 hash_;
  };

  // Creates the folder and removes files of interrupted uploads. Only one server may use the
  // folder. Error: `storage_open`.
  static Result<std::unique_ptr<BlobStore>> open(const std::filesystem::path& folder,
                                                 std::uint64_t max_bytes = kDefaultMaxBytes);

  // Error: `storage_unavailable`. The store must outlive the writer.
  Result<std::unique_ptr<Writer>> begin() const;

  // Returns the path of the blob's file; nullopt if it is not stored or the name is no SHA-256.
  std::optional<std::filesystem::path> path_of(std::string_view sha256) const;
  std::optional<std::uint64_t> size(std::string_view sha256) const;
  bool exists(std::string_view sha256) const { return size(sha256).has_value(); }
  // Returns the names of all stored blobs, unordered.
  std::vector<std::string> names() const;
  // Removes a blob. The removal is not durable: after a crash the blob may be there again.
  void remove(std::string_view sha256) const;
  std::uint64_t max_bytes() const { return max_bytes_; }

 private:
  BlobStore(std::filesystem::path folder, std::uint64_t max_bytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  std::filesystem::path file_of(std::string_view sha256) const;

  const std::filesystem::path folder_;
  const std::uint64_t max_bytes_;
};

}  // namespace hyperflock::blobs
