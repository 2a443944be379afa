// See contribution_fold.h.
#include "app/contribution_fold.h"

#include <boost/asio/post.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "storage/contribution.h"

namespace hyperflock::app {
namespace {

// The pause between two pieces, which is many times as long as the commit of one.
constexpr std::chrono::milliseconds kBetweenPieces{100};

}  // namespace

ContributionFold::ContributionFold(storage::Storage& storage, hub::ReaderPool& readers,
                                   hub::Hub& hub, const hub::Strand& strand,
                                   std::chrono::milliseconds every)
    : storage_(storage),
      readers_(readers),
      hub_(hub),
      strand_(strand),
      every_(every),
      pause_(strand) {}

void ContributionFold::tick(std::int64_t now) {
  if (working_ || now - begun_at_ < every_.count()) return;
  begun_at_ = now;
  read();
}

void ContributionFold::read() {
  working_ = readers_.post([this, today = storage::day_of(begun_at_)] {
    auto piece = std::make_shared<Result<storage::ContributionPiece>>(
        storage_.next_contributions(today, {}));
    boost::asio::post(strand_, [this, piece] { on_piece(*piece); });
  });
}

void ContributionFold::on_piece(Result<storage::ContributionPiece>& piece) {
  working_ = piece && !piece->empty();
  if (!working_) return;
  const bool last = piece->last;
  std::vector<storage::Transition> group{storage::FoldContributions{*std::move(piece)}};
  hub_.commit(std::move(group), [this, last](const Result<storage::Outcome>& outcome) {
    // If the piece is old, or the disk is full, the next tick tries again.
    const bool goes_on = outcome && outcome->applied == storage::Applied::applied && !last;
    boost::asio::post(strand_, [this, goes_on] { on_added(goes_on); });
  });
}

void ContributionFold::on_added(bool goes_on) {
  working_ = goes_on;
  if (!goes_on) return;
  pause_.expires_after(kBetweenPieces);
  pause_.async_wait([this](const boost::system::error_code& error) {
    if (!error) read();
  });
}

}  // namespace hyperflock::app
