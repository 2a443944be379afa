// See lost_answer.h.
#include "storage/postgres/testing/lost_answer.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

namespace hyperflock::storage {
namespace {

using namespace std::string_view_literals;

constexpr const char* kSocketName = "/.s.PGSQL.5432";
constexpr int kLookForStopMs = 100;
// A statement without a name, and the tag of a command that is complete.
constexpr std::string_view kCommitStatement = "\0COMMIT\0"sv;
constexpr std::string_view kCommitTag = "COMMIT\0"sv;

int unix_socket() {
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) throw std::runtime_error("socket failed");
  return made;
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

bool write_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

LostAnswer::LostAnswer(const std::string& url) : url_(url), listener_(unix_socket()) {
  constexpr std::string_view kHost = "host=";
  const std::size_t begin = url.find(kHost) + kHost.size();
  const std::size_t end = std::min(url.find('&', begin), url.size());
  database_ = url.substr(begin, end - begin) + kSocketName;
  url_.replace(begin, end - begin, folder_.path().string());
  const sockaddr_un address = address_of(folder_.path().string() + kSocketName);
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, 8) != 0)
    throw std::runtime_error("cannot listen in " + folder_.path().string());
  thread_ = std::thread([this] { serve(); });
}

LostAnswer::~LostAnswer() {
  stop_ = true;
  thread_.join();
  ::close(listener_);
}

void LostAnswer::serve() {
  while (!stop_) {
    pollfd waits{listener_, POLLIN, 0};
    if (::poll(&waits, 1, kLookForStopMs) <= 0) continue;
    const int near = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const int far = unix_socket();
    const sockaddr_un address = address_of(database_);
    if (::connect(far, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      pass_on(near, far);
    ::close(near);
    ::close(far);
  }
}

void LostAnswer::pass_on(int near, int far) {
  std::array<char, 65536> piece;
  bool swallows = false;
  std::string swallowed;
  std::array<pollfd, 2> ends{pollfd{near, POLLIN, 0}, pollfd{far, POLLIN, 0}};
  while (!stop_) {
    if (::poll(ends.data(), ends.size(), kLookForStopMs) <= 0) continue;
    for (const pollfd& from : ends) {
      if (from.revents == 0) continue;
      const ssize_t got = ::recv(from.fd, piece.data(), piece.size(), 0);
      if (got <= 0) return;
      const std::string_view bytes(piece.data(), static_cast<std::size_t>(got));
      if (from.fd == near) {
        swallows = swallows || (!lost_ && bytes.contains(kCommitStatement));
        if (!write_all(far, bytes)) return;
      } else if (!swallows) {
        if (!write_all(near, bytes)) return;
      } else if (swallowed += bytes; swallowed.contains(kCommitTag)) {
        lost_ = true;
        return;
      }
    }
  }
}

}  // namespace hyperflock::storage
