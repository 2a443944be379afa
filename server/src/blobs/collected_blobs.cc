// See collected_blobs.h.
#include "blobs/collected_blobs.h"

#include <algorithm>
#include <iterator>

namespace hyperflock::blobs {

Result<std::unique_ptr<CollectedBlobs>> CollectedBlobs::open(const std::filesystem::path& folder,
                                                             std::uint64_t max_bytes,
                                                             const std::vector<std::string>& kept) {
  TRY(auto blobs, BlobStore::open(folder, max_bytes));
  for (const std::string& name : blobs->names()) {
    if (!std::ranges::binary_search(kept, name)) blobs->remove(name);
  }
  return std::unique_ptr<CollectedBlobs>(new CollectedBlobs(std::move(blobs)));
}

Result<std::unique_ptr<CollectedBlobs::Upload>> CollectedBlobs::begin(const std::string& sha256) {
  TRY(auto writer, blobs_->begin());
  const std::lock_guard lock(mutex_);
  ++entries_[sha256].holds;
  return std::unique_ptr<Upload>(new Upload(*this, sha256, std::move(writer)));
}

std::unique_ptr<CollectedBlobs::Hold> CollectedBlobs::hold(std::vector<std::string> blobs) {
  const std::lock_guard lock(mutex_);
  for (const std::string& blob : blobs) ++entries_[blob].holds;
  return std::unique_ptr<Hold>(new Hold(*this, std::move(blobs)));
}

void CollectedBlobs::drop(const std::vector<std::string>& blobs) {
  const std::lock_guard lock(mutex_);
  for (const std::string& blob : blobs) {
    Entry& entry = entries_[blob];
    entry.dropped = true;
    entry.named = false;
  }
}

void CollectedBlobs::sweep() {
  const std::lock_guard lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end();) forget_unused(entry++);
}

// Does nothing while an upload or a hold uses the entry's blob. Otherwise removes the entry, and
// also the blob's file if the blob was dropped and no row has named it since.
void CollectedBlobs::forget_unused(std::map<std::string, Entry>::iterator entry) {
  if (entry->second.holds > 0) return;
  if (entry->second.dropped && !entry->second.named) blobs_->remove(entry->first);
  entries_.erase(entry);
}

void CollectedBlobs::let_go(const std::string& blob) {
  const auto entry = entries_.find(blob);
  --entry->second.holds;
  forget_unused(entry);
}

CollectedBlobs::Hold::~Hold() {
  const std::lock_guard lock(store_.mutex_);
  for (const std::string& blob : blobs_) store_.let_go(blob);
}

void CollectedBlobs::Hold::named() {
  const std::lock_guard lock(store_.mutex_);
  for (const std::string& blob : blobs_) store_.entries_.at(blob).named = true;
}

CollectedBlobs::Upload::~Upload() {
  writer_.reset();
  const std::lock_guard lock(store_.mutex_);
  // If no row names the new blob by now, it counts as dropped.
  if (is_new_) store_.entries_.at(sha256_).dropped = true;
  store_.let_go(sha256_);
}

Status CollectedBlobs::Upload::append(std::span<const std::byte> bytes) {
  return writer_->append(bytes);
}

Result<BlobStore::Stored> CollectedBlobs::Upload::finish() {
  auto stored = writer_->finish(sha256_);
  is_new_ = stored && stored->is_new;
  return stored;
}

void CollectedBlobs::Upload::named() {
  const std::lock_guard lock(store_.mutex_);
  store_.entries_.at(sha256_).named = true;
}

}  // namespace hyperflock::blobs
