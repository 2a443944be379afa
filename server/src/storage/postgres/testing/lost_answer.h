// A Unix socket in front of a database for tests. It passes connections on, one at a time. The
// database takes the first COMMIT and ends it well, but its answer is lost: the connection ends.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "base/testing/scratch_folder.h"

namespace hyperflock::storage {

class LostAnswer {
 public:
  // `url` is one of TestPostgres::new_schema().
  explicit LostAnswer(const std::string& url);
  ~LostAnswer();
  LostAnswer(const LostAnswer&) = delete;
  LostAnswer& operator=(const LostAnswer&) = delete;

  // Returns the URL of the same schema, by way of this socket.
  const std::string& url() const { return url_; }
  // Returns whether an answer was lost.
  bool lost() const { return lost_; }

 private:
  void serve();
  // Passes bytes on until one side ends, or the answer is lost.
  void pass_on(int near, int far);

  const ScratchFolder folder_;
  std::string database_;  // the path of its socket
  std::string url_;
  int listener_ = -1;
  std::atomic<bool> lost_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace hyperflock::storage
