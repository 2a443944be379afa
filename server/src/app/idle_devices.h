// Collects devices that joined and never sent a result, once they have not been connected for some
// days. A device that comes back afterwards joins again. So nobody can fill the server with devices
// for long. If more than half of the server's places are taken, one day is enough.
#pragma once

#include <cstdint>
#include <vector>

#include "auth/identity_cache.h"
#include "base/result.h"
#include "hub/executor.h"
#include "hub/hub.h"
#include "hub/reader_pool.h"
#include "storage/storage.h"

namespace hyperflock::app {

// Used on one strand. It reads pages of the devices that were seen long ago, and has each page
// collected in a commit of its own; between them the writer is free for others.
class IdleDevices {
 public:
  struct Settings {
    std::int64_t days = 30;         // 0: nothing is collected
    std::int64_t most_devices = 0;  // of the server; 0: any number
  };
  // REQUIRES: the other objects outlive this one, or no thread runs the strand any more.
  IdleDevices(storage::Storage& storage, hub::ReaderPool& readers, hub::Hub& hub,
              auth::IdentityCache& identities, const hub::Strand& strand, Settings settings);

  // Call it about once a second. Begins to collect once an hour, or once a minute if the server has
  // few places left.
  void tick(std::int64_t now);

 private:
  void read();
  void on_page(const Result<std::vector<storage::SeenDevice>>& page);

  storage::Storage& storage_;
  hub::ReaderPool& readers_;
  hub::Hub& hub_;
  auth::IdentityCache& identities_;
  const hub::Strand strand_;
  const Settings settings_;
  hub::Timer pause_;
  bool collecting_ = false;
  std::int64_t begun_at_ = 0;
  std::int64_t before_ = 0;
  storage::SeenDevice after_{};
};

}  // namespace hyperflock::app
