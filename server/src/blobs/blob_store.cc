// Implements content-addressed files; see blob_store.h.
#include "blobs/blob_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace hyperflock::blobs {
namespace {

namespace fs = std::filesystem;

// The folder of uploads. It is inside the store's folder, so that a rename never crosses file
// systems. No blob's folder has this name.
constexpr const char* kUploads = "uploads";

Error unavailable(const std::string& what, int error) {
  if (error == ENOSPC || error == EDQUOT) {
    return Error{"no_room", "The server's disk is full: its operator has to make room."};
  }
  return Error{"storage_unavailable", "Cannot " + what + " (" + std::strerror(error) +
                                          "): free disk space or look at the disk."};
}

// Makes new names in a folder durable.
bool sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool synced = ::fsync(descriptor) == 0;
  ::close(descriptor);
  return synced;
}

bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<BlobStore>> BlobStore::open(const fs::path& folder,
                                                   std::uint64_t max_bytes) {
  std::error_code error;
  fs::create_directories(folder / kUploads, error);
  if (!error) {
    // Removes uploads that a crash interrupted.
    for (const fs::directory_entry& left : fs::directory_iterator(folder / kUploads, error)) {
      fs::remove_all(left.path(), error);
      if (error) break;
    }
  }
  if (error) {
    return Error{"storage_open", "Cannot use " + folder.string() + " (" + error.message() +
                                     "): check that it is a writable folder."};
  }
  return std::unique_ptr<BlobStore>(new BlobStore(folder, max_bytes));
}

Result<std::unique_ptr<BlobStore::Writer>> BlobStore::begin() const {
  std::string name = (folder_ / kUploads / "XXXXXX").string();
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) return unavailable("begin an upload", errno);
  return std::unique_ptr<Writer>(new Writer(*this, name, descriptor));
}

fs::path BlobStore::file_of(std::string_view sha256) const {
  return folder_ / sha256.substr(0, 2) / sha256.substr(2);
}

std::optional<fs::path> BlobStore::path_of(std::string_view sha256) const {
  if (!exists(sha256)) return std::nullopt;
  return file_of(sha256);
}

std::optional<std::uint64_t> BlobStore::size(std::string_view sha256) const {
  if (!is_sha256(sha256)) return std::nullopt;
  struct stat status{};
  if (::stat(file_of(sha256).c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

std::vector<std::string> BlobStore::names() const {
  std::vector<std::string> found;
  std::error_code error;
  for (const fs::directory_entry& folder : fs::directory_iterator(folder_, error)) {
    std::error_code none;
    for (const fs::directory_entry& file : fs::directory_iterator(folder, none)) {
      std::string name = folder.path().filename().string() + file.path().filename().string();
      if (is_sha256(name)) found.push_back(std::move(name));
    }
  }
  return found;
}

void BlobStore::remove(std::string_view sha256) const {
  if (is_sha256(sha256)) ::unlink(file_of(sha256).c_str());
}

BlobStore::Writer::Writer(const BlobStore& store, fs::path temporary, int descriptor)
    : store_(store), temporary_(std::move(temporary)), descriptor_(descriptor) {}

BlobStore::Writer::~Writer() { discard(); }

void BlobStore::Writer::discard() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  descriptor_ = -1;
  ::unlink(temporary_.c_str());
}

Error BlobStore::Writer::failure(const std::string& what) {
  const int error = errno;
  discard();
  return unavailable(what, error);
}

Status BlobStore::Writer::append(std::span<const std::byte> bytes) {
  if (descriptor_ < 0) return Error{"storage_unavailable", "This upload is over: begin another."};
  if (bytes.size() > store_.max_bytes_ - bytes_) {
    discard();
    return Error{"blob_too_large", "A blob holds at most " + std::to_string(store_.max_bytes_) +
                                       " bytes: split the data."};
  }
  if (!write_all(descriptor_, bytes)) return failure("write a blob");
  hash_.update(bytes);
  bytes_ += bytes.size();
  return {};
}

Result<BlobStore::Stored> BlobStore::Writer::finish(std::string_view expected_sha256) {
  if (descriptor_ < 0) return Error{"storage_unavailable", "This upload is over: begin another."};
  if (const std::string sha256 = hash_.hex(); sha256 != expected_sha256) {
    discard();
    return Error{"hash_mismatch", "The bytes have SHA-256 " + sha256 + ": send them again."};
  }
  const fs::path file = store_.file_of(expected_sha256);
  if (store_.exists(expected_sha256)) {
    // Another upload of the same bytes may have just renamed its file, and the new name may not be
    // durable yet.
    if (!sync_folder(file.parent_path())) return failure("make a blob durable");
    discard();
    return Stored{bytes_, false};
  }
  if (::fsync(descriptor_) != 0) return failure("make a blob durable");
  const bool folder_is_new = ::mkdir(file.parent_path().c_str(), 0777) == 0;
  if (!folder_is_new && errno != EEXIST) return failure("create a folder for a blob");
  if (::rename(temporary_.c_str(), file.c_str()) != 0) return failure("name a blob");
  ::close(descriptor_);
  descriptor_ = -1;
  // Makes the file's name durable. Otherwise the name could be lost in a power cut, while the row
  // of a study that needs the blob is kept.
  if (!sync_folder(file.parent_path()) || (folder_is_new && !sync_folder(store_.folder_))) {
    const int error = errno;
    ::unlink(file.c_str());
    return unavailable("make a blob durable", error);
  }
  return Stored{bytes_, true};
}

}  // namespace hyperflock::blobs
