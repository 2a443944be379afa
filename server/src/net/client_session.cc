#include "net/client_session.h"

#include <atomic>
#include <map>
#include <utility>
#include <vector>

#include "http/console/rows.h"
#include "http/console/study_access.h"
#include "net/session_base.h"

namespace hyperflock::net {
namespace {

constexpr std::size_t kWatchesPerConnection = 16;
constexpr std::int64_t kRowsPerUpdate = 500;
// Rows are added to an update until it has this size. So an update stays below the largest frame,
// because one row has at most some 100 KiB.
constexpr std::size_t kRowBytesPerUpdate = std::size_t{512} << 10;
// At most this many printed lines are in one update. A line has at most 2,000 characters, and a
// frame at most 1 MiB.
constexpr std::size_t kLinesPerLog = 100;

class ClientSession;

// A watched study. wake() may be called on any thread; everything else belongs to the session's
// strand.
class Watch final : public hub::Watcher, public std::enable_shared_from_this<Watch> {
 public:
  Watch(std::weak_ptr<ClientSession> session, const protocol::Watch& asked)
      : study(asked.study),
        trial(asked.trial),
        cursor(asked.after),
        log_cursor(asked.log_after.value_or(0)),
        space_once(asked.space_once),
        session_(std::move(session)) {}

  void wake() override;

  const StudyId study;
  const std::optional<TrialNumber> trial;  // the trial whose printed lines are sent too
  std::int64_t cursor;
  std::int64_t log_cursor;
  const bool space_once;
  // How often the study had been extended when its whole space was sent; nullopt: not sent yet.
  std::optional<std::size_t> sent_space;
  std::string last_study;  // the study's row as last sent; with space_once, the row with names only
  bool reading = false;    // whether a reader thread reads for it
  std::atomic<bool> woken{false};

 private:
  std::weak_ptr<ClientSession> session_;
};

// The rows and lines that a reader thread has read.
struct Rows {
  std::optional<Error> error;
  std::string study;
  // The row with the whole space, and which space that is. Only for a watch with space_once that
  // does not have this space yet.
  std::string whole_study;
  std::optional<std::size_t> whole_space;
  std::vector<std::string> trials;
  std::int64_t cursor = 0;
  std::optional<protocol::TrialLog> log;
  bool more = false;
};

class ClientSession final : public SessionBase, public std::enable_shared_from_this<ClientSession> {
 public:
  using SessionBase::SessionBase;

  // Runs `action` on the strand if the connection still exists. Any thread.
  void post(std::function<void(ClientSession&)> action) {
    if (const auto open = channel()) {
      open->post([self = shared_from_this(), action = std::move(action)] { action(*self); });
    }
  }

  // Starts to read new rows. Does nothing while a read runs, shortly after a read, or while the
  // peer has not taken earlier updates.
  void advance(const std::shared_ptr<Watch>& watch) {
    const auto open = channel();
    if (!open || paused_ || watch->reading || !watch->woken.load()) return;
    if (open->queued_bytes() > context_.limits.queue_bytes / 2)
      return;  // on_drained() calls this again
    watch->woken = false;
    watch->reading = true;
    const hub::Added added = context_.readers.post(
        lane(hub::Band::costly), [self = shared_from_this(), watch, after = watch->cursor,
                                  log_after = watch->log_cursor, sent_space = watch->sent_space] {
          auto rows = std::make_shared<Rows>(self->read(*watch, after, sent_space));
          self->read_log(*watch, log_after, *rows);
          self->post(
              [watch, rows](ClientSession& session) { session.deliver(watch, std::move(*rows)); });
        });
    if (added != hub::Added::yes) retry(watch);
  }

 private:
  protocol::Role role() const override { return protocol::Role::researcher; }
  std::string who() const override { return principal_->name; }

  Verdict on_hello(protocol::Hello hello) override {
    const auto open = channel();
    const auto caller = context_.identities.check_token(hello.token);
    if (caller && caller->principal.state != storage::PrincipalState::active) {
      refuse("bad_token", "The owner of this token may not come in now; ask the operator why.");
      return Verdict::refused;
    }
    if (!caller) {
      if (!context_.admission.admit_stranger(open->address())) {
        refuse("rate_limited", "Too many wrong credentials came from this address; wait a minute.");
      } else {
        refuse("bad_token",
               "The server does not know this token; check it, or ask the operator for a new one.");
      }
      return Verdict::refused;
    }
    principal_ = caller->principal;
    open->trust();
    context_.hub.attend(caller->token, open);
    open->on_drained([this] { advance_all(); });
    protocol::Welcome welcome;
    welcome.server = context_.server_version;
    welcome.heartbeat_ms = context_.heartbeat_ms;
    send(welcome);
    return Verdict::accepted;
  }

  Credit on_message(protocol::ClientMessage message) override {
    if (auto* reply = std::get_if<protocol::OwnerReply>(&message)) return on_reply(*reply);
    const auto* asked = std::get_if<protocol::Watch>(&message);
    if (asked == nullptr) {
      send_error(Error{"unknown_type", "A researcher's session takes watch and reply only."});
      return Credit::given;
    }
    if (asked->own) return on_claim(*asked);
    if (watches_.size() >= kWatchesPerConnection && !watches_.contains(asked->study)) {
      send_error(
          Error{"too_many", "One connection may watch at most 16 studies; open another one."});
      return Credit::given;
    }
    // If the connection watches the study already, the new request and its cursor replace the
    // earlier watch.
    const auto watch = std::make_shared<Watch>(weak_from_this(), *asked);
    watches_.insert_or_assign(asked->study, watch);
    context_.hub.watch(asked->study, watch);
    if (asked->trial) context_.hub.watch_output(asked->study, watch);
    return Credit::given;
  }

  // A new claim replaces an earlier one of this connection.
  Credit on_claim(const protocol::Watch& asked) {
    end_claim();
    claim_ = context_.hub.next_session();
    claimed_ = asked.study;
    const hub::Added added = context_.readers.post(
        lane(hub::Band::quick),
        [self = shared_from_this(), id = asked.study, own = *asked.own, claim = *claim_] {
          auto row = std::make_shared<Result<storage::StudyRow>>(self->own_study(id));
          self->post([row, own, claim](ClientSession& session) {
            session.claim(std::move(*row), own, claim);
          });
        });
    if (added != hub::Added::yes) {
      claim_.reset();
      send_error(Error{"storage_unavailable", "The server has too much to do; claim it again."});
    }
    return Credit::given;
  }

  void claim(Result<storage::StudyRow> row, const protocol::OwnerClaim& own, SessionId claim) {
    if (claim_ != claim) return;  // replaced by another claim, or closed
    if (!row) {
      claim_.reset();
      return send_error(row.error());
    }
    const auto open = channel();
    if (!open) return;
    attached_ = true;
    context_.hub.claim(dispatch::StudyClaimed{.session = claim,
                                              .study = std::move(*row),
                                              .label = own.label,
                                              .standby = own.standby,
                                              .quota = quota()},
                       open);
  }

  // Returns the queue of the reader pool in which work for this connection waits. REQUIRES: hello
  // was accepted.
  hub::Lane lane(hub::Band band) const { return http::lane_of(*principal_, band); }
  hub::Lane costly_lane() const override { return lane(hub::Band::costly); }

  // Returns the researcher's current quota. Administrators have no limits.
  storage::Quota quota() const {
    const auto now = context_.identities.principal(principal_->id);
    const bool limited = now && now->role != storage::PrincipalRole::admin;
    return limited ? now->quota : storage::Quota{};
  }

  // Refuses a reply while this connection does not own the study. A connection that has claimed a
  // study owns it only after the study's row was read from storage.
  Credit on_reply(protocol::OwnerReply& reply) {
    if (!attached_ || claimed_ != reply.study) {
      send_error(
          Error{"not_owner", "Claim the study by `watch` with `own` before you speak for it."});
      return Credit::given;
    }
    context_.hub.owner_reply(*claim_, std::move(reply));
    return Credit::owed;
  }

  void end_claim() {
    if (attached_) context_.hub.owner_closed(*claim_);
    attached_ = false;
    claim_.reset();
  }

  void on_ended(How) override {
    watches_.clear();
    end_claim();
  }

  // Returns the study if the caller may see it. Runs on a reader thread.
  Result<storage::StudyRow> own_study(StudyId id) const {
    TRY(auto study, context_.storage.study(id));
    const bool mine = study && (principal_->role == storage::PrincipalRole::admin ||
                                study->owner == principal_->name);
    if (mine) return std::move(*study);
    return Error{"unknown_study", "There is no such study, or it belongs to somebody else.",
                 "study"};
  }

  // Reads rows of the study after the cursor `after`. `sent_space` is as in Watch. Runs on a reader
  // thread.
  Rows read(const Watch& watch, std::int64_t after, std::optional<std::size_t> sent_space) const {
    const StudyId id = watch.study;
    Rows rows;
    rows.cursor = after;
    const auto study = own_study(id);
    if (!study) {
      rows.error = study.error();
      return rows;
    }
    auto finished = context_.storage.finished_trials(id, after, kRowsPerUpdate);
    if (!finished) {
      rows.error = finished.error();
      return rows;
    }
    const auto row_json = [&](http::Space space) {
      return http::shown_study_json(context_.hub, context_.identities, *study, space);
    };
    rows.study = row_json(watch.space_once ? http::Space::names : http::Space::whole);
    const std::size_t space = study->spec.grown.size();
    if (watch.space_once && sent_space != space) {
      rows.whole_study = row_json(http::Space::whole);
      rows.whole_space = space;
    }
    std::size_t bytes = 0;
    for (const storage::TrialDetail& trial : *finished) {
      rows.trials.push_back(http::trial_row_json(trial));
      rows.cursor = trial.trial.seq;
      bytes += rows.trials.back().size();
      if (bytes > kRowBytesPerUpdate) break;
    }
    rows.more = rows.trials.size() < finished->size() ||
                finished->size() == static_cast<std::size_t>(kRowsPerUpdate);
    return rows;
  }

  // Reads printed lines after the cursor `after`. Runs on a reader thread.
  void read_log(const Watch& watch, std::int64_t after, Rows& rows) const {
    if (rows.error || !watch.trial) return;
    rows.log = context_.outputs.read({watch.study, *watch.trial}, after, kLinesPerLog);
    rows.more |= rows.log->lines.size() == kLinesPerLog;
  }

  void deliver(const std::shared_ptr<Watch>& watch, Rows rows) {
    watch->reading = false;
    const auto current = watches_.find(watch->study);
    if (current == watches_.end() || current->second != watch) return;  // replaced meanwhile
    if (rows.error) {
      if (rows.error->code == "unknown_study") {
        watches_.erase(current);
        send_error(std::move(*rows.error));
      } else {
        retry(watch);
      }
      return;
    }
    if (!rows.trials.empty() || rows.whole_space || rows.study != watch->last_study) {
      watch->cursor = rows.cursor;
      watch->last_study = rows.study;
      if (rows.whole_space) {
        watch->sent_space = rows.whole_space;
        rows.study = std::move(rows.whole_study);
      }
      send(protocol::Update{std::move(rows.study), std::move(rows.trials), rows.cursor});
    }
    if (rows.log && !rows.log->lines.empty()) {
      watch->log_cursor = rows.log->cursor;
      send(*std::move(rows.log));
    }
    if (rows.more) {
      watch->woken = true;
      advance(watch);
    } else {
      pause(context_.watch_gap_ms);
    }
  }

  void retry(const std::shared_ptr<Watch>& watch) {
    constexpr Millis kRetryMs = 500;
    watch->reading = false;
    watch->woken = true;
    pause(kRetryMs);
  }

  // Waits before the next read, so that several wake-ups cause one read.
  void pause(Millis delay) {
    const auto open = channel();
    if (!open) return;
    paused_ = true;
    open->after(delay, [this] {
      paused_ = false;
      advance_all();
    });
  }

  void advance_all() {
    for (const auto& [study, watch] : watches_) advance(watch);
  }

  std::optional<storage::Principal> principal_;  // written once, before the first read()
  std::map<StudyId, std::shared_ptr<Watch>> watches_;
  bool paused_ = false;
  std::optional<SessionId> claim_;  // of the study that this connection owns or claims
  StudyId claimed_{};
  bool attached_ = false;  // whether the hub has the claim
};

void Watch::wake() {
  if (woken.exchange(true)) return;
  if (const auto session = session_.lock()) {
    session->post([watch = shared_from_this()](ClientSession& alive) { alive.advance(watch); });
  }
}

}  // namespace

std::function<void(std::shared_ptr<Upgrade>)> client_sessions(const SessionContext& context) {
  return [&context](std::shared_ptr<Upgrade> upgrade) {
    WsChannel::start(std::move(upgrade), context.limits, context.metrics,
                     std::make_shared<ClientSession>(context));
  };
}

}  // namespace hyperflock::net
