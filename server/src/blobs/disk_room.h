// The room on the disk of the state folder: what guests (researchers and volunteers' devices) may
// still fill, and a reserve for changes such as deletions and revocations (storage/reserve.h). Any
// thread; calls may block on the disk for a moment.
//
// While less than `min_free_bytes` would stay free, nothing that grows is admitted. An upload
// claims its bytes before its body is read, so that many uploads at once cannot fill what is free.
//
// The reserve is a file of `reserve_bytes` without content. If a commit finds the disk full, the
// writer removes the file, so that deletions, cancellations and revocations can be written. The
// file is made again as soon as there is room. It is shorter than `reserve_bytes` by the length of
// the database's log, whose bytes the next commits overwrite.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace hyperflock::blobs {

class DiskRoom {
 public:
  struct Limits {
    std::uint64_t min_free_bytes = std::uint64_t{1} << 30;
    std::uint64_t reserve_bytes = std::uint64_t{64} << 20;
  };
  // Returns the free bytes of the disk; nullopt if they are not known. Tests pass their own.
  using FreeBytes = std::function<std::optional<std::uint64_t>()>;

  // Bytes that are set aside for an upload. The destructor releases them.
  class Claim {
   public:
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim() { room_.claimed_ -= bytes_; }

   private:
    friend class DiskRoom;
    Claim(DiskRoom& room, std::uint64_t bytes) : room_(room), bytes_(bytes) {}
    DiskRoom& room_;
    const std::uint64_t bytes_;
  };

  // `log` is the file of the database's write-ahead log, which need not exist.
  DiskRoom(const std::filesystem::path& folder, std::filesystem::path log, Limits limits,
           FreeBytes free_bytes = {});

  // Returns how many bytes may still be stored in files.
  std::uint64_t left() const;
  // Returns whether rows may be added. Free bytes in the database's file count as free on the disk.
  bool admits_rows() const;
  // Claims the bytes of an upload; nullptr if they do not fit. The room must outlive the claim.
  std::unique_ptr<Claim> claim(std::uint64_t bytes);
  // Notes how many bytes of the database's file are free.
  void note_reusable(std::uint64_t bytes) { reusable_ = bytes; }

  // Removes the reserve, so that its bytes are free. Guests get none of them: until regain()
  // succeeds, nothing that grows is admitted.
  void release();
  // Makes the reserve again. Returns false, and makes none, if it does not fit or would leave
  // almost no other byte free.
  bool regain();

 private:
  std::uint64_t free_now() const;
  // Makes the file of the reserve longer.
  bool allocate(std::uint64_t wanted, std::uint64_t has) const;

  const std::filesystem::path file_;
  const std::filesystem::path log_;
  const Limits limits_;
  const FreeBytes free_bytes_;
  std::atomic<std::uint64_t> claimed_{0};
  std::atomic<std::uint64_t> reusable_{0};
  std::atomic<bool> released_{false};
  std::mutex mutex_;  // for changes of the file
};

}  // namespace hyperflock::blobs
