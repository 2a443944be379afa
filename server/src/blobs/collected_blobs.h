// Stores blobs of researchers and attempts as a BlobStore does, and removes a blob when no row of
// storage names it. A blob is never removed during an upload of the same bytes, or while a row that
// names it is being written. Any thread.
//
//   auto upload = store->begin(sha256);            // Result
//   upload->append(bytes);  upload->finish();      // the bytes are durable
//   upload->named();                               // a row names them: they stay
//   // without named() the end of the upload removes bytes that were new
//   const auto hold = store->hold({sha256});      // before checking whether they exist
//   hold->named();                                // a row names them: they stay
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "blobs/blob_store.h"

namespace hyperflock::blobs {

class CollectedBlobs {
 public:
  // An upload. Used by one thread at a time. Only named() may be called on any thread.
  class Upload {
   public:
    ~Upload();
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;

    // Errors: `blob_too_large`, `storage_unavailable`.
    Status append(std::span<const std::byte> bytes);
    // Errors: `hash_mismatch`, `storage_unavailable`. Call it once, after the last append().
    Result<BlobStore::Stored> finish();
    void named();

   private:
    friend class CollectedBlobs;
    Upload(CollectedBlobs& store, std::string sha256, std::unique_ptr<BlobStore::Writer> writer)
        : store_(store), sha256_(std::move(sha256)), writer_(std::move(writer)) {}

    CollectedBlobs& store_;
    const std::string sha256_;
    std::unique_ptr<BlobStore::Writer> writer_;
    bool is_new_ = false;
  };

  // Keeps existing blobs while a row that names them is being written. Used by one thread at a
  // time. Only named() may be called on any thread.
  class Hold {
   public:
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    void named();

   private:
    friend class CollectedBlobs;
    Hold(CollectedBlobs& store, std::vector<std::string> blobs)
        : store_(store), blobs_(std::move(blobs)) {}

    CollectedBlobs& store_;
    const std::vector<std::string> blobs_;
  };

  // Opens the folder and removes each blob that is not among `kept`. REQUIRES: `kept` is sorted.
  // Storage::kept_blobs() and owned_blobs() return sorted lists. Error: `storage_open`.
  static Result<std::unique_ptr<CollectedBlobs>> open(const std::filesystem::path& folder,
                                                      std::uint64_t max_bytes,
                                                      const std::vector<std::string>& kept);

  // REQUIRES: is_sha256(sha256). Error: `storage_unavailable`. The store must outlive the upload.
  Result<std::unique_ptr<Upload>> begin(const std::string& sha256);

  // The store must outlive the hold.
  std::unique_ptr<Hold> hold(std::vector<std::string> blobs);

  bool exists(std::string_view sha256) const { return blobs_->exists(sha256); }
  std::optional<std::filesystem::path> path_of(std::string_view sha256) const {
    return blobs_->path_of(sha256);
  }
  std::optional<std::uint64_t> size(std::string_view sha256) const { return blobs_->size(sha256); }

  // Notes that storage no longer names these blobs. Never waits for the disk: sweep() removes the
  // files. Call it in the order of the commits.
  void drop(const std::vector<std::string>& blobs);
  // Removes the files of dropped blobs. May block.
  void sweep();

 private:
  struct Entry {
    int holds = 0;  // how many holds and uploads use the blob
    bool dropped = false;
    bool named = false;  // whether a row named it after the last drop
  };

  explicit CollectedBlobs(std::unique_ptr<BlobStore> blobs) : blobs_(std::move(blobs)) {}

  void forget_unused(std::map<std::string, Entry>::iterator entry);
  void let_go(const std::string& blob);

  const std::unique_ptr<BlobStore> blobs_;
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // under mutex_: blobs that are held or dropped now
};

}  // namespace hyperflock::blobs
