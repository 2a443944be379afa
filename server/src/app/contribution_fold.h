// Adds accepted results to what devices have contributed, some seconds after they came, so that the
// commit that accepts a result does nothing for it. After an upgrade it adds what an older version
// has stored, too.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/result.h"
#include "hub/executor.h"
#include "hub/hub.h"
#include "hub/reader_pool.h"
#include "storage/storage.h"

namespace hyperflock::app {

// Used on one strand. A reader adds up a piece of results, and the writer adds the sums in a commit
// of its own. Between two pieces the writer is free for others. A restart loses nothing: the
// database knows how far the sums go.
class ContributionFold {
 public:
  // REQUIRES: the other objects outlive this one, or no thread runs the strand any more.
  ContributionFold(storage::Storage& storage, hub::ReaderPool& readers, hub::Hub& hub,
                   const hub::Strand& strand, std::chrono::milliseconds every);

  // Call it about once a second, with the time in Unix milliseconds. Begins to add what is new if
  // the pause since the last time is over.
  void tick(std::int64_t now);

 private:
  void read();
  void on_piece(Result<storage::ContributionPiece>& piece);
  void on_added(bool goes_on);

  storage::Storage& storage_;
  hub::ReaderPool& readers_;
  hub::Hub& hub_;
  const hub::Strand strand_;
  const std::chrono::milliseconds every_;
  hub::Timer pause_;
  bool working_ = false;
  std::int64_t begun_at_ = 0;
};

}  // namespace hyperflock::app
