#include "disk_probe.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <vector>

namespace hyperflock::bench {

double durable_writes_per_s(const std::string& folder, double seconds) {
  constexpr std::size_t kBlock = std::size_t{16} * 1024;
  constexpr off_t kFileBytes = off_t{4} << 20;
  const std::string path = folder + "/disk-probe";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) throw std::runtime_error("cannot write " + path);
  const std::vector<char> block(kBlock, 'x');
  const auto write_at = [&](off_t at) {
    return ::pwrite(file, block.data(), block.size(), at) == static_cast<ssize_t>(block.size());
  };
  bool sound = true;
  for (off_t at = 0; at < kFileBytes; at += static_cast<off_t>(kBlock))
    sound = sound && write_at(at);
  sound = sound && ::fsync(file) == 0;

  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  long writes = 0;
  std::chrono::duration<double> spent{};
  while (sound && spent.count() < seconds) {
    sound = write_at(writes * static_cast<off_t>(kBlock) % kFileBytes) && ::fdatasync(file) == 0;
    ++writes;
    spent = Clock::now() - start;
  }
  ::close(file);
  ::unlink(path.c_str());
  if (!sound) throw std::runtime_error("a write to " + path + " failed");
  return static_cast<double>(writes) / spent.count();
}

}  // namespace hyperflock::bench
