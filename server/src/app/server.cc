#include "app/server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "acme/lego.h"
#include "acme/renewal.h"
#include "app/backups.h"
#include "app/certificate.h"
#include "app/contribution_fold.h"
#include "app/database.h"
#include "app/idle_devices.h"
#include "app/kept_runtimes.h"
#include "app/liveness.h"
#include "app/machine/descriptors.h"
#include "app/machine/memory.h"
#include "app/machine/observed.h"
#include "app/machine/version.h"
#include "app/packs.h"
#include "app/spare/listening.h"
#include "app/spare/peer.h"
#include "app/standby.h"
#include "auth/blob_links.h"
#include "auth/first_start.h"
#include "auth/identity_cache.h"
#include "auth/trusted_clock.h"
#include "backup/restore.h"
#include "base/steady_clock.h"
#include "blobs/blob_store.h"
#include "blobs/collected_blobs.h"
#include "blobs/disk_room.h"
#include "cli/credentials.h"
#include "http/compute/compute_site.h"
#include "http/console/console_site.h"
#include "http/core/admission.h"
#include "http/core/device_reports.h"
#include "http/core/static_files.h"
#include "hub/executor.h"
#include "hub/hub.h"
#include "hub/output_book.h"
#include "hub/reader_pool.h"
#include "net/answer_log.h"
#include "net/client_session.h"
#include "net/connections.h"
#include "net/forwarded_notice.h"
#include "net/listener.h"
#include "net/proxy/trusted_proxies.h"
#include "net/relay/peer_listener.h"
#include "net/tls.h"
#include "net/worker_session.h"
#include "storage/sqlite/open.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"
#include "traces/exporter.h"
#include "webhook/deliverer.h"

namespace hyperflock::app {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using telemetry::Gauge;

constexpr int kServiceRestart = 1012;
constexpr std::int64_t kKeepTimeMs = 60'000;
constexpr std::int64_t kTrimMs = 60'000;
constexpr Millis kCloseMs = 5'000;  // for closing handshakes and unfinished answers

std::int64_t wall_clock_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}
std::int64_t wall_clock_s() { return wall_clock_ms() / 1'000; }

// Returns the configuration with as many connections as the system's limit of open files allows.
Result<ServeConfig> with_fitting_budgets(ServeConfig config) {
  const std::uint64_t limit = raise_descriptor_limit();
  const ConnectionBudgets wanted{config.max_connections, config.max_console_connections};
  TRY(const auto budgets, fit_budgets(limit, wanted));
  config.max_connections = budgets.compute;
  config.max_console_connections = budgets.console;
  if (budgets == wanted) {
    telemetry::log(
        telemetry::LogLevel::info, "connection_budgets",
        {{"compute", budgets.compute}, {"console", budgets.console}, {"open_files", limit}});
  } else {
    telemetry::log(
        telemetry::LogLevel::warning, "connection_budgets",
        {{"compute", budgets.compute},
         {"console", budgets.console},
         {"open_files", limit},
         {"reason",
          "The system allows fewer open files than --max-connections and "
          "--max-console-connections need; raise its limit (ulimit -n, LimitNOFILE=)."}});
  }
  return config;
}

std::optional<Backups::Schedule> schedule_of(const ServeConfig& config) {
  if (config.backup_to.empty()) return std::nullopt;
  return Backups::Schedule{config.backup_to, config.backup_every_ms, config.backup_keep};
}

class RunningServer final : public Server {
 public:
  RunningServer(const ServeConfig& config, std::unique_ptr<Standby> standby,
                std::unique_ptr<storage::Storage> storage,
                std::unique_ptr<blobs::CollectedBlobs> blobs,
                std::unique_ptr<blobs::CollectedBlobs> collected,
                std::unique_ptr<blobs::DiskRoom> room, bool starts_full,
                std::unique_ptr<http::DeviceReports> reports, std::unique_ptr<acme::Lego> lego,
                std::unique_ptr<net::Tls> tls, std::vector<KeptRuntime> runtimes,
                webhook::AddressRules webhook_rules, std::shared_ptr<auth::TrustedClock> clock,
                net::TrustedProxies proxies, auth::BlobLinks links)
      : config_(config),
        runtimes_(std::move(runtimes)),
        packs_(served_packs(config)),
        webhook_rules_(std::move(webhook_rules)),
        clock_(std::move(clock)),
        standby_(std::move(standby)),
        storage_(std::move(storage)),
        blobs_(std::move(blobs)),
        collected_(std::move(collected)),
        room_(std::move(room)),
        starts_full_(starts_full),
        reports_(std::move(reports)),
        links_(std::move(links)),
        identities_([time = clock_] { return time->now(); }),
        admission_({config.joins_burst, config.joins_per_s}),
        messages_({.kib_burst = config.message_kib_burst, .kib_per_s = config.message_kib_per_s}),
        lego_(std::move(lego)),
        tls_(std::move(tls)),
        proxies_(std::move(proxies)),
        compute_connections_(config.max_connections_per_address, config.max_connections, metrics_,
                             "compute"),
        console_connections_(config.max_connections_per_address, config.max_console_connections,
                             metrics_, "console"),
        io_(static_cast<int>(config.io_threads)),
        liveness_(config.io_threads + 1),
        readers_({.queues = {.waiting_per_caller = config.waiting_requests},
                  .waited =
                      [this](hub::Band band, std::chrono::duration<double> time) {
                        metrics_.observe(telemetry::Histogram::reader_wait_seconds, time.count(),
                                         hub::kBandNames[static_cast<std::size_t>(band)]);
                      }}),
        hub_(hub::make_hub(io_, *storage_, readers_, outputs_, metrics_, hub_settings(config))),
        deliverer_(*storage_, deliverer_settings()),
        backups_({config.state_dir, config.database, config.database_password_file, *blobs_,
                  *collected_, *room_, metrics_, schedule_of(config)}),
        sweep_(asio::make_strand(io_)),
        idle_devices_(*storage_, readers_, *hub_, identities_, sweep_.get_executor(),
                      {.days = config.idle_device_days, .most_devices = config.max_devices}),
        contributions_(*storage_, readers_, *hub_, sweep_.get_executor(),
                       std::chrono::milliseconds(config.fold_ms)) {}

  ~RunningServer() override { stop(); }

  // Keeps the lock of the state folder until the end.
  void keep(std::unique_ptr<storage::FileLock> lock) { state_lock_ = std::move(lock); }

  // Takes connections of spares at this address, from start() on.
  void take_peers(net::BoundAddress address, net::PeerKey key) {
    peer_address_.emplace(std::move(address));
    peer_key_ = std::move(key);
  }

  Status start() {
    mount_files();
    if (tls_ != nullptr) note_certificate(*tls_, metrics_, wall_clock_s());
    observe_start(metrics_);
    metrics_.set(Gauge::shard_held, 1);
    metrics_.set(Gauge::synchronous, storage_->synchronous());
    metrics_.before_read([this] {
      observe_process(metrics_);
      observe_disk(metrics_, config_.state_dir);
      observe_readers(metrics_, readers_);
      if (standby_) standby_->observe(metrics_);
    });
    for (const auto& step :
         {&RunningServer::listen, &RunningServer::load_identities, &RunningServer::restore}) {
      const Status done = (this->*step)();
      if (!done) return done;
    }
    note_room();
    compute_listener_->start();
    console_listener_->start();
    if (peer_listener_) peer_listener_->start();
    sweep();
    if (config_.webhooks) deliverer_.start();
    if (lego_ != nullptr) start_renewal();
    threads_.reserve(config_.io_threads);
    for (std::size_t i = 0; i < config_.io_threads; ++i) {
      threads_.emplace_back([this, i] {
        if (config_.answer_ms == 0) {
          io_.run();
        } else {
          run_answering(io_, liveness_, i, config_.answer_ms);
        }
      });
    }
    telemetry::log(telemetry::LogLevel::info, "listening",
                   {{"compute", compute_origin()},
                    {"console", console_origin()},
                    {"files", files_.size() + console_files_.size()},
                    {"version", kVersion}});
    return tell_ready(config_, compute_port(), console_port());
  }

  std::uint16_t compute_port() const override { return compute_listener_->port(); }
  std::uint16_t console_port() const override { return console_listener_->port(); }
  std::string compute_origin() const override {
    return app::compute_origin(config_, compute_port());
  }
  std::string console_origin() const override {
    return config_.console_url.empty() ? listening_console(config_, console_port())
                                       : config_.console_url;
  }
  const std::optional<FirstStart>& first_start() const override { return first_start_; }

  Status reload() override {
    if (tls_ == nullptr) {
      telemetry::log(telemetry::LogLevel::info, "nothing_to_reload",
                     {{"reason",
                       "The server has no certificate. Other settings are read at the "
                       "start only: restart it."}});
      return {};
    }
    Status reloaded = reload_certificate(*tls_);
    if (reloaded) note_certificate(*tls_, metrics_, wall_clock_s());
    return reloaded;
  }

  void ask_threads() override {
    const std::uint64_t question = liveness_.ask();
    // The writer commits this and the hub passes its result on, so both threads work if a result
    // comes. An error is a result, too.
    hub_->commit({storage::KeepTime{}}, [this, question](const Result<storage::Outcome>&) {
      liveness_.answer(config_.io_threads, question);
    });
  }
  bool threads_answered() const override { return liveness_.all_answered(); }

  void stop() override {
    if (stopped_.exchange(true)) return;
    renewal_.reset();
    if (!threads_.empty()) {
      telemetry::log(telemetry::LogLevel::info, "draining", {{"connections", connections()}});
      const auto quiet = std::make_shared<std::promise<void>>();
      std::future<void> settled = quiet->get_future();
      hub_->drain([quiet] { quiet->set_value(); });
      if (settled.wait_for(std::chrono::milliseconds(config_.drain_ms)) !=
          std::future_status::ready) {
        telemetry::log(telemetry::LogLevel::warning, "drain_incomplete",
                       {{"waited_ms", config_.drain_ms}});
      }
      compute_listener_->stop();
      console_listener_->stop();
      if (peer_listener_) peer_listener_->stop();
      for (net::Connections* open : both()) open->shut_all(kServiceRestart);
      const Instant last = steady_now() + kCloseMs;
      for (net::Connections* open : both())
        (void)open->wait_empty(std::max<Millis>(0, last - steady_now()));
      if (connections() != 0) {
        telemetry::log(telemetry::LogLevel::warning, "connections_cut",
                       {{"connections", connections()}});
      }
    }
    backups_.cancel();
    deliverer_.stop();  // before the hub, which stores what became of deliveries
    hub_->stop();
    readers_.stop();
    io_.stop();
    for (std::thread& thread : threads_) thread.join();
    backups_.stop();
    for (net::Connections* open : both()) open->clear();
    if (tracer_) tracer_->stop();
    if (peer_listener_) peer_listener_->clear();
    telemetry::log(telemetry::LogLevel::info, "stopped");
  }

 private:
  std::array<net::Connections*, 2> both() { return {&compute_connections_, &console_connections_}; }
  std::size_t connections() const {
    return compute_connections_.size() + console_connections_.size();
  }

  void start_renewal() {
    renewal_.emplace(acme::RenewalSettings{
        .every_ms = config_.acme_every_ms,
        .days = config_.acme_renew_days,
        .wall_s = wall_clock_s,
        .validity =
            [this] {
              const net::CertificateFacts facts = tls_->facts();
              return acme::Validity{.from_s = facts.not_before_s, .until_s = facts.not_after_s};
            },
        .renew = [this] { return lego_->renew(); },
        .cancel = [this] { lego_->cancel(); },
        .renewed =
            [this](const Status& done) {
              if (!done) return note_failed_renewal(done.error());
              (void)reload();  // reload() logs any error
            }});
  }

  hub::HubSettings hub_settings(const ServeConfig& config) {
    hub::HubSettings settings;
    settings.dispatch.lease_ms = config.lease_ms;
    settings.dispatch.heartbeat_ms = config.heartbeat_ms;
    settings.dispatch.call_ms = config.call_ms;
    settings.dispatch.no_devices_ms = config.no_devices_ms;
    settings.hung_writer_ms = config.hung_writer_ms;
    settings.queued = [this] { deliverer_.wake(); };
    settings.tracer = tracer_.get();
    settings.disk = {.starts_full = starts_full_,
                     .release = [this] { room_->release(); },
                     .reusable =
                         [this](std::int64_t bytes) {
                           metrics_.set(Gauge::database_reusable_bytes, static_cast<double>(bytes));
                           room_->note_reusable(static_cast<std::uint64_t>(bytes));
                         }};
    settings.regain = [this] {
      const bool regained = room_->regain();
      if (regained) asio::post(sweep_.get_executor(), [this] { note_room(); });
      return regained;
    };
    settings.dispatch.server_version = kVersion;
    for (const KeptRuntime& kept : runtimes_) settings.dispatch.runtimes.insert(kept.runtime.id);
    settings.dropped = [this](const storage::Outcome& outcome) {
      collected_->drop(outcome.dropped);
      blobs_->drop(outcome.disowned);
      // If the queue is full, a later sweep or the next start removes the files of dropped blobs.
      (void)readers_.post([this] {
        collected_->sweep();
        blobs_->sweep();
      });
    };
    return settings;
  }

  webhook::DelivererSettings deliverer_settings() {
    webhook::SenderSettings sending{.rules = webhook_rules_,
                                    .ca_file = config_.webhook_ca,
                                    .agent = "Hyperflock/" + std::string(kVersion)};
    return {.console = config_.console_url,
            .send = [sender = webhook::Sender(std::move(sending))](
                        const webhook::Post& post) { return sender.post(post); },
            .clock = [time = clock_] { return time->now(); },
            .signing_clock = wall_clock_ms,
            .note =
                [this](storage::NoteDelivery note, hub::Committed done) {
                  hub_->note_delivery(std::move(note), std::move(done));
                },
            .tracer = tracer_.get()};
  }

  std::vector<protocol::Runtime> versions_of_runtimes() const {
    std::vector<protocol::Runtime> versions;
    for (const KeptRuntime& kept : runtimes_) versions.push_back(kept.runtime);
    return versions;
  }

  void mount_files() {
    files_.allow_data_from(config_.data_url);
    if (!config_.app_dir.empty()) {
      files_.mount("/app/", (fs::path(config_.app_dir) / "app").string());
      files_.mount_file("/join", (fs::path(config_.app_dir) / "join.html").string());
      files_.mount_file("/selftest", (fs::path(config_.app_dir) / "selftest.html").string());
      // Serves icons and similar files. Pages refer to them by names without a hash.
      std::error_code error;
      for (const auto& entry : fs::directory_iterator(config_.app_dir, error)) {
        const fs::path extension = entry.path().extension();
        if (extension == ".html" || extension == ".br" || extension == ".gz" ||
            entry.is_symlink(error))
          continue;
        files_.mount_file("/" + entry.path().filename().string(), entry.path().string());
      }
      // The console has its own files, because the origin where researchers sign in must not serve
      // scripts that compute.
      const fs::path console = fs::path(config_.app_dir) / "console";
      console_files_.mount("/app/", (console / "app").string());
      console_files_.mount_file("/research", (console / "research.html").string());
    }
    // All runtimes share `/runtime/`. Each of their folders is named by its content, so the names
    // do not conflict. Each runtime also has an `index.json`. The installed runtime is mounted
    // last, so that `/runtime/index.json` is its index.
    for (auto kept = runtimes_.rbegin(); kept != runtimes_.rend(); ++kept) {
      files_.mount("/runtime/", kept->folder);
      files_.mount_file("/runtime/index-" + kept->runtime.id + ".json",
                        (fs::path(kept->folder) / "index.json").string());
    }
    if (!config_.runtime_dir.empty()) files_.mount("/runtime/", config_.runtime_dir);
    // The packs are beside the runtime's pieces. Their folders are named by their content, too.
    // Researchers ask the console which there are.
    if (!packs_.list.packs.empty()) {
      files_.mount("/runtime/", packs_.folder);
      console_files_.mount_file("/packs.json", (fs::path(packs_.folder) / "packs.json").string());
    }
  }

  Status listen() {
    const auto open = [this](const Address& address, bool tls, net::Connections& connections,
                             const net::HttpContext& context) {
      return net::Listener::open(io_, {address.host, address.port}, tls ? tls_.get() : nullptr,
                                 connections, context);
    };
    session_.emplace(net::SessionContext{.hub = *hub_,
                                         .storage = *storage_,
                                         .readers = readers_,
                                         .outputs = outputs_,
                                         .identities = identities_,
                                         .admission = admission_,
                                         .messages = messages_,
                                         .metrics = metrics_,
                                         .limits = {.queue_bytes = config_.queue_limit_bytes,
                                                    .stuck_ms = config_.slow_peer_ms,
                                                    .pace = {.grace_ms = config_.slow_message_ms}},
                                         .server_version = std::string(kVersion),
                                         .hello_ms = config_.hello_ms,
                                         .heartbeat_ms = config_.heartbeat_ms,
                                         .max_workers = config_.max_workers,
                                         .messages_per_s = config_.messages_per_s});
    // The sites need the ports, and the listeners need the sites. So each listener gets its site
    // after it is open, before the first connection.
    compute_http_.emplace(net::HttpContext{nullptr,
                                           readers_,
                                           answers_,
                                           {},
                                           net::worker_sessions(*session_),
                                           &proxies_,
                                           &forwarded_notice_,
                                           config_.proxy_traceparent});
    console_http_.emplace(net::HttpContext{nullptr,
                                           readers_,
                                           answers_,
                                           {},
                                           net::client_sessions(*session_),
                                           &proxies_,
                                           &forwarded_notice_,
                                           config_.proxy_traceparent});
    TRY(auto compute, open(config_.compute, config_.tls(), compute_connections_, *compute_http_));
    compute_listener_ = std::move(compute);
    TRY(auto console,
        open(config_.console, config_.console_tls(), console_connections_, *console_http_));
    console_listener_ = std::move(console);
    if (peer_address_) {
      TRY(peer_listener_,
          net::PeerListener::open(io_, std::move(*peer_address_), peer_key_,
                                  {compute_connections_, *compute_http_},
                                  {console_connections_, *console_http_}, metrics_));
    }

    const auto site = [this](const http::StaticFiles& files, const std::string& own_origin,
                             std::function<std::vector<std::string>()> warnings) {
      return http::SiteContext{.hub = *hub_,
                               .readers = readers_,
                               .storage = *storage_,
                               .blobs = *blobs_,
                               .collected = *collected_,
                               .room = *room_,
                               .outputs = outputs_,
                               .reports = *reports_,
                               .links = links_,
                               .identities = identities_,
                               .admission = admission_,
                               .possession = possession_,
                               .metrics = metrics_,
                               .files = files,
                               .runtimes = versions_of_runtimes(),
                               .packs = packs_.list,
                               .server_version = std::string(kVersion),
                               .join_origin = compute_origin(),
                               .own_origin = own_origin,
                               .data_origin = config_.data_url,
                               .warnings = std::move(warnings),
                               .max_blob_bytes = config_.max_blob_bytes,
                               .max_checkpoint_bytes = config_.max_checkpoint_bytes,
                               .max_artifact_bytes = config_.max_artifact_bytes,
                               .webhooks = config_.webhooks ? &webhook_rules_ : nullptr,
                               .max_devices = config_.max_devices,
                               .open_metrics = is_loopback(config_.console),
                               .open_registration = config_.open_registration};
    };
    compute_site_ = http::make_compute_site(
        site(files_, compute_origin(), [] { return std::vector<std::string>(); }));
    console_site_ = http::make_console_site(
        site(console_files_, config_.console_url, [this] { return warnings(); }));
    compute_http_->site = compute_site_.get();
    console_http_->site = console_site_.get();
    return {};
  }

  // Returns what operators should know of although the server takes work.
  std::vector<std::string> warnings() const {
    std::vector<std::string> codes;
    if (backups_.failing()) codes.emplace_back("backup_failed");
    if (standby_ && standby_->is_behind()) codes.emplace_back("standby_behind");
    return codes;
  }

  Status load_identities() {
    TRY(auto identities, storage_->identities());
    if (const auto first = auth::first_start(identities, {config_.project, config_.researcher})) {
      TRY(make_first_identities(*first));
      TRY(identities, storage_->identities());
    } else {
      TRY(refresh_credentials());
    }
    identities_.load(identities);
    return {};
  }

  // The credentials file is written before the database. If the server crashes between the two, the
  // next start finds no identities and makes new ones.
  Status make_first_identities(const auth::FirstStart& made) {
    first_start_ = FirstStart{made.admin_token, made.researcher_token, made.enrolment_code,
                              credentials_file()};
    TRY(cli::write_credentials(
        credentials_file(),
        {made.admin_token, made.researcher_token, made.enrolment_code,
         compute_origin() + "/join#" + made.enrolment_code, compute_origin(), console_origin()}));
    TRY(storage_->apply(made.transitions));
    return {};
  }

  // Returns where the first tokens are. They are never printed, because whoever reads the server's
  // log would be an administrator.
  std::string credentials_file() const {
    if (!config_.credentials_file.empty()) return config_.credentials_file;
    return (fs::path(config_.state_dir) / "credentials.json").string();
  }

  // Writes the addresses into the credentials file again, because the ports may have changed since
  // the last start.
  Status refresh_credentials() {
    const std::string path = credentials_file();
    if (!fs::exists(path)) {
      // The default file in the state folder may have been deleted by the operator. If a flag names
      // the file, the operator expects it to exist.
      if (config_.credentials_file.empty()) return {};
      telemetry::log(
          telemetry::LogLevel::warning, "no_credentials_file",
          {{"reason", "Tokens are made at the first start only; the file is not written again."}});
      return {};
    }
    TRY(auto credentials, cli::read_credentials(path));
    credentials.compute = compute_origin();
    credentials.console = console_origin();
    credentials.join_url = compute_origin() + "/join#" + credentials.enrolment_code;
    return cli::write_credentials(path, credentials);
  }

  Status restore() {
    TRY(auto snapshot, storage_->load());
    hub_->restore(std::move(snapshot));
    return {};
  }

  void sweep() {
    sweep_.expires_after(std::chrono::seconds(1));
    sweep_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      const Instant instant = steady_now();
      for (net::Connections* open : both()) open->check_progress(instant);
      (void)readers_.post(give_back_unused_memory);
      watch_time();
      trim_audit();
      idle_devices_.tick(clock_->now());
      contributions_.tick(clock_->now());
      note_room();
      backups_.tick();
      sweep();
    });
  }

  // Ends sessions whose tokens have expired. Stores the current time at least once a minute, so
  // that no expired token is valid again after a restart with a clock that was set back.
  void watch_time() {
    auto ended = identities_.take_expired();
    const std::int64_t now = clock_->now();
    if (!ended.empty() || now - kept_at_ >= kKeepTimeMs) {
      kept_at_ = now;
      hub_->commit({storage::KeepTime{}}, [](const Result<storage::Outcome>&) {});
    }
    if (!ended.empty()) hub_->end_sessions(std::move(ended), hub::Hub::Sessions::ended);
    if (const auto jump = clock_->take_jump()) {
      telemetry::log(telemetry::LogLevel::warning, "clock_jumped",
                     {{"wall_ms", jump->wall},
                      {"server_ms", jump->trusted},
                      {"what_to_do",
                       "Check this machine's clock. The server goes on by its own time, which "
                       "approaches the clock slowly. If the clock is right, restart with "
                       "--trust-clock."}});
    }
  }

  // Tells the hub when the disk has got too little room for rows, or enough again.
  void note_room() {
    const bool has_room = room_->admits_rows();
    if (std::exchange(has_room_, has_room) == has_room) return;
    hub_->set_room(has_room);
    telemetry::log(telemetry::LogLevel::warning, has_room ? "disk_has_room" : "disk_nearly_full",
                   {{"min_free_bytes", static_cast<std::int64_t>(config_.min_free_bytes)}});
  }

  // Removes entries of the audit log: by number and size once a minute, by age once an hour.
  void trim_audit() {
    const std::int64_t now = clock_->now();
    if (now - trimmed_at_ < kTrimMs) return;
    trimmed_at_ = now;
    storage::TrimAudit trim{.entries = config_.audit_entries, .bytes = config_.audit_mib << 20};
    if (config_.audit_days != 0 && now - aged_at_ >= kHourMs) {
      aged_at_ = now;
      trim.before = now - config_.audit_days * kDayMs;
    }
    hub_->commit({trim}, [](const Result<storage::Outcome>&) {});
  }

  // Members above the I/O context outlive the connections that its queue may still own. Members
  // below the I/O context use it.
  const ServeConfig config_;
  std::vector<KeptRuntime> runtimes_;  // the installed one first
  const ServedPacks packs_;
  const webhook::AddressRules webhook_rules_;
  const std::shared_ptr<auth::TrustedClock> clock_;
  telemetry::Metrics metrics_;
  // Null without --otlp-endpoint.
  const std::unique_ptr<telemetry::Tracer> tracer_ =
      traces::make_tracer({config_.otlp_endpoint, config_.trace_sample, std::string(kVersion)},
                          metrics_)
          .value_or(nullptr);
  std::unique_ptr<storage::FileLock> state_lock_;  // null: the storage has it
  std::unique_ptr<Standby> standby_;               // null: there is none
  std::unique_ptr<storage::Storage> storage_;
  std::unique_ptr<blobs::CollectedBlobs> blobs_;
  std::unique_ptr<blobs::CollectedBlobs> collected_;
  std::unique_ptr<blobs::DiskRoom> room_;
  const bool starts_full_;
  hub::OutputBook outputs_;
  std::unique_ptr<http::DeviceReports> reports_;
  http::StaticFiles files_;  // of the compute origin
  http::StaticFiles console_files_;
  const auth::BlobLinks links_;
  auth::IdentityCache identities_;
  http::Admission admission_;
  hub::MessageBudget messages_;
  http::Possession possession_;
  std::unique_ptr<acme::Lego> lego_;  // without --domain nullptr
  std::unique_ptr<net::Tls> tls_;
  const net::TrustedProxies proxies_;
  net::ForwardedNotice forwarded_notice_;
  net::AnswerLog answers_{metrics_, tracer_.get()};
  net::Connections compute_connections_;
  net::Connections console_connections_;
  std::unique_ptr<http::Site> compute_site_;
  std::unique_ptr<http::Site> console_site_;
  std::optional<net::SessionContext> session_;
  std::optional<net::HttpContext> compute_http_;
  std::optional<net::HttpContext> console_http_;
  std::optional<FirstStart> first_start_;
  asio::io_context io_;
  Liveness liveness_;  // of the I/O threads, and of hub and writer together
  hub::ReaderPool readers_;
  std::unique_ptr<hub::Hub> hub_;
  webhook::Deliverer deliverer_;
  std::unique_ptr<net::Listener> compute_listener_;
  std::unique_ptr<net::Listener> console_listener_;
  std::optional<net::BoundAddress> peer_address_;  // until peer_listener_ has it
  net::PeerKey peer_key_;
  std::unique_ptr<net::PeerListener> peer_listener_;  // null without --peer
  Backups backups_;
  hub::Timer sweep_;
  // Only the strand of sweep_ uses the next six members.
  IdleDevices idle_devices_;
  ContributionFold contributions_;
  bool has_room_ = true;  // as the hub knows it
  std::int64_t kept_at_ = 0;
  std::int64_t trimmed_at_ = 0;
  std::int64_t aged_at_ = 0;
  std::vector<std::thread> threads_;
  std::optional<acme::Renewal> renewal_;
  std::atomic<bool> stopped_{false};
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const ServeConfig& config,
                                              std::unique_ptr<storage::Storage> storage,
                                              const Turn& turn) {
  const fs::path state(config.state_dir);
  for (const std::string& folder : {config.backup_to, config.standby}) {
    if (!folder.empty()) TRY(backup::check_apart(config.state_dir, folder));
  }
  if (!config.backup_to.empty() && !config.standby.empty())
    TRY(backup::check_apart(config.backup_to, config.standby));
  std::error_code error;
  fs::create_directories(state, error);
  if (error)
    return Error{"bad_state",
                 "Cannot make the state folder " + state.string() + ": " + error.message() + "."};
  fs::permissions(state, fs::perms::owner_all, fs::perm_options::replace, error);
  if (fs::exists(state / backup::kUnfinished, error)) {
    return Error{"bad_state", "The restoration of " + state.string() +
                                  " was interrupted: run `hyperflock-server restore` again."};
  }
  const auto clock = std::make_shared<auth::TrustedClock>();
  auto room = std::make_unique<blobs::DiskRoom>(
      state, storage::database_of(config.state_dir) + "-wal",
      blobs::DiskRoom::Limits{config.min_free_bytes, config.reserve_bytes});
  const bool starts_full = !room->regain();
  if (starts_full) {
    room->release();  // opening the database needs some bytes
    telemetry::log(telemetry::LogLevel::warning, "disk_full",
                   {{"reason", "The disk has no room for the reserve of --reserve-bytes."}});
  }
  std::unique_ptr<Standby> standby;
  if (!config.standby.empty())
    standby = std::make_unique<Standby>(config.state_dir, config.standby);
  std::unique_ptr<storage::FileLock> state_lock;
  TRY(auto peer, bind_peer(config));
  net::PeerKey peer_key;
  if (!storage) {
    std::optional<storage::StandbyTarget> target;
    if (standby) target = standby->target();
    TRY(auto opened, open_database(
                         config, [clock] { return clock->now(); }, std::move(target), turn.lost,
                         peer ? peer->published : storage::ShardPeer()));
    if (peer) peer_key = {.epoch = opened.epoch, .secret = peer->published.secret};
    storage = std::move(opened.storage);
    state_lock = std::move(opened.lock);
  }
  TRY(const std::int64_t kept_time, storage->kept_time());
  clock->begin(kept_time,
               config.trust_clock ? auth::AtStart::trust_wall : auth::AtStart::be_careful);
  room->note_reusable(static_cast<std::uint64_t>(storage->reusable_bytes()));
  TRY(const auto owned, storage->owned_blobs());
  TRY(auto blobs,
      blobs::CollectedBlobs::open((state / "blobs").string(), config.max_blob_bytes, owned));
  TRY(auto links, auth::BlobLinks::open(state / "blobs"));
  TRY(const auto kept, storage->kept_blobs());
  // The folder is named after checkpoints, but artifacts are in it too.
  TRY(auto collected, blobs::CollectedBlobs::open(
                          (state / "checkpoints").string(),
                          std::max(config.max_checkpoint_bytes, config.max_artifact_bytes), kept));
  TRY(auto reports, http::DeviceReports::open(state / "device-reports"));
  auto lego = make_lego(config, wall_clock_s);
  TRY(auto tls, make_tls(config, lego.get()));
  TRY(const auto running, storage->running_runtimes());
  const std::set<std::string> wanted(running.begin(), running.end());
  TRY(auto runtimes, keep_runtimes(config.runtime_dir, (state / "runtimes").string(), wanted));
  TRY(auto webhook_rules, webhook::AddressRules::make(config.webhook_allow));
  TRY(auto proxies, net::TrustedProxies::make(config.trusted_proxies));
  TRY(const auto fitted, with_fitting_budgets(config));
  auto server = std::make_unique<RunningServer>(
      fitted, std::move(standby), std::move(storage), std::move(blobs), std::move(collected),
      std::move(room), starts_full, std::move(reports), std::move(lego), std::move(tls),
      std::move(runtimes), std::move(webhook_rules), clock, std::move(proxies), std::move(links));
  server->keep(std::move(state_lock));
  if (peer) server->take_peers(std::move(peer->bound), std::move(peer_key));
  if (turn.before_listening) turn.before_listening();
  TRY(server->start());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace hyperflock::app
