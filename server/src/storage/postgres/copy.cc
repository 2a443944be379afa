// The parts of a Client that copy whole tables; see client.h.
#include <exception>

#include "storage/postgres/client.h"

namespace hyperflock::storage::postgres {
namespace {

constexpr std::size_t kPieceBytes = 64 << 10;

}  // namespace

void Client::copy_in(const std::string& command, const std::function<bool(std::string&)>& more) {
  Answer answer = outside_pipeline(command);
  if (PQresultStatus(answer.get()) != PGRES_COPY_IN) return back_to_pipeline(answer);
  std::exception_ptr thrown;
  std::string piece;
  for (bool goes_on = true; goes_on;) {
    try {
      goes_on = more(piece);
    } catch (...) {
      thrown = std::current_exception();
      break;
    }
    if (piece.size() < kPieceBytes && goes_on) continue;
    if (PQputCopyData(connection_.get(), piece.data(), static_cast<int>(piece.size())) != 1) lost();
    piece.clear();
  }
  if (PQputCopyEnd(connection_.get(), thrown ? "ended" : nullptr) != 1) lost();
  answer.reset(PQgetResult(connection_.get()));
  while (const Answer rest{PQgetResult(connection_.get())}) {
  }
  if (!usable()) lost();
  if (!thrown) return back_to_pipeline(answer);
  if (PQenterPipelineMode(connection_.get()) != 1) lost();
  std::rethrow_exception(thrown);
}

void Client::copy_out(const std::string& command,
                      const std::function<void(std::string_view)>& use) {
  Answer answer = outside_pipeline(command);
  if (PQresultStatus(answer.get()) != PGRES_COPY_OUT) return back_to_pipeline(answer);
  struct Free {
    void operator()(char* piece) const { PQfreemem(piece); }
  };
  for (;;) {
    char* bytes = nullptr;
    const int count = PQgetCopyData(connection_.get(), &bytes, 0);
    const std::unique_ptr<char, Free> piece(bytes);
    if (count < 0) break;  // the end, or an error, which the answer has
    try {
      use({bytes, static_cast<std::size_t>(count)});
    } catch (...) {
      connection_.reset();
      open_ = false;
      throw;
    }
  }
  answer.reset(PQgetResult(connection_.get()));
  while (const Answer rest{PQgetResult(connection_.get())}) {
  }
  if (!usable()) lost();
  back_to_pipeline(answer);
}

}  // namespace hyperflock::storage::postgres
