#include "net/http_connection.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <chrono>
#include <exception>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/steady_clock.h"
#include "http/core/changes.h"
#include "net/onward.h"
#include "net/proxy/forwarded.h"
#include "net/proxy/proxy_header.h"
#include "net/stream.h"
#include "telemetry/log.h"
#include "telemetry/request_context.h"

namespace hyperflock::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using std::chrono::milliseconds;
template <typename T>
using Awaitable = asio::awaitable<T, hub::Strand>;
using HeadParser = beast::http::request_parser<beast::http::empty_body>;
using BodyParser = beast::http::request_parser<beast::http::buffer_body>;

constexpr auto kUse = asio::as_tuple(asio::use_awaitable_t<hub::Strand>());
// GCC 12 destroys some temporaries of a co_await expression twice: those of conditional operators,
// braced aggregates, and lambdas with captures. So here every object with a destructor is a named
// variable before it is awaited.

// Closing a socket with unread bytes would make the peer's kernel drop the answer. So the server
// reads up to this many bytes, for up to this long, before it closes.
constexpr std::size_t kLingerBytes = std::size_t{1} << 20;
constexpr Millis kLingerMs = 2'000;
// Files and uploads are transferred in pieces. Their size is small at first and doubles while the
// peer is fast, so that many slow peers cost little memory.
constexpr std::size_t kFirstPiece = std::size_t{16} * 1024;
constexpr Millis kFastPieceMs = 500;
constexpr std::size_t kFirstRead = 512;  // of a request

// The size of the next piece of a file or an upload.
class PieceSize {
 public:
  explicit PieceSize(std::size_t most) : most_(most), bytes_(std::min(kFirstPiece, most)) {}
  std::size_t bytes() const { return bytes_; }
  void begin() { begun_ = steady_now(); }
  void end() {
    bytes_ = steady_now() - begun_ < kFastPieceMs ? std::min(most_, 2 * bytes_)
                                                  : std::min(kFirstPiece, most_);
  }

 private:
  std::size_t most_;
  std::size_t bytes_;
  Instant begun_{};
};

http::Method method_of(beast::http::verb verb) {
  switch (verb) {
    case beast::http::verb::get:
      return http::Method::get;
    case beast::http::verb::head:
      return http::Method::head;
    case beast::http::verb::post:
      return http::Method::post;
    case beast::http::verb::put:
      return http::Method::put;
    case beast::http::verb::delete_:
      return http::Method::remove;
    default:
      return http::Method::other;
  }
}

class HttpConnection final : public Closable, public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(std::unique_ptr<Stream> stream, ConnectionSlot slot, const IpAddress& peer,
                 const HttpContext& context)
      : context_(context),
        stream_(std::move(stream)),
        slot_(std::move(slot)),
        peer_{peer, stream_->tls() != nullptr},
        local_(peer.is_loopback()),
        by_proxy_(context.proxies != nullptr && context.proxies->contains(peer)),
        timer_(stream_->get_executor()) {}

  HttpConnection(std::unique_ptr<Stream> stream, ConnectionSlot slot, const RelayedPeer& peer,
                 const HttpContext& context)
      : context_(context),
        stream_(std::move(stream)),
        slot_(std::move(slot)),
        peer_(peer.client),
        local_(false),
        by_proxy_(context.proxies != nullptr && context.proxies->contains(peer.client.address)),
        named_(peer.named),
        relayed_(true),
        timer_(stream_->get_executor()) {}

  void start() {
    slot_.attach(shared_from_this());
    asio::co_spawn(
        stream_->get_executor(), [self = shared_from_this()] { return self->run(); },
        [self = shared_from_this()](const std::exception_ptr& fault) { self->note_bug(fault); });
  }

  // An answer that is being sent is completed. A connection that waits for a request ends at once.
  void shut(int) override {
    shutting_ = true;
    asio::post(timer_.get_executor(), [self = shared_from_this()] {
      if (self->idle_) self->abort();
    });
  }
  void displace() override {
    asio::post(timer_.get_executor(), [self = shared_from_this()] { self->abort(); });
  }
  void check_progress(Instant) override {}  // each wait here has its own time-out

 private:
  // Logs an exception, which is a bug because none is expected here. Only this connection ends.
  void note_bug(const std::exception_ptr& fault) const {
    if (!fault) return;
    const telemetry::RequestScope scope(serving_);
    try {
      std::rethrow_exception(fault);
    } catch (const std::exception& error) {
      telemetry::log(telemetry::LogLevel::error, "connection_fault", {{"reason", error.what()}});
    }
  }

  Awaitable<void> run() {
    if ((relayed_ || co_await handshake()) && !co_await pass_on()) {
      bool more = true;
      while (more) {
        more = co_await serve_one();
        // Between two requests, a connection from a proxy counts for none of the proxy's clients.
        if (by_proxy_) slot_.unclaim();
      }
    }
    abort();
    slot_ = ConnectionSlot();
  }

  Awaitable<bool> handshake() {
    std::string ahead;
    if (by_proxy_ && !co_await proxy_header(ahead)) co_return false;
    if (stream_->tls() == nullptr) {
      buffer_.commit(asio::buffer_copy(buffer_.prepare(ahead.size()), asio::buffer(ahead)));
      co_return true;
    }
    expire_after(context_.limits.head_ms);
    auto [error, none] = co_await stream_->tls()->async_handshake(std::move(ahead), kUse);
    co_return !error;
  }

  // Reads the header with which a proxy may begin the connection (PROXY protocol). Bytes that are
  // not part of this header stay in `ahead`.
  Awaitable<bool> proxy_header(std::string& ahead) {
    expire_after(context_.limits.head_ms);
    for (;;) {
      const ProxyRead read = read_proxy_header(ahead);
      if (read.state == ProxyRead::State::absent) co_return true;
      if (read.state == ProxyRead::State::complete) {
        ahead.erase(0, read.bytes);
        co_return co_await take_client(read.header);
      }
      if (read.state == ProxyRead::State::bad) {
        note_bad_header(read.fault);
        const Error reason{"bad_proxy_header", read.fault};
        co_await refuse_early(reason);
        co_return false;
      }
      const std::size_t before = ahead.size();
      ahead.resize(before + read.missing);
      const asio::mutable_buffer room = asio::buffer(ahead) + before;
      auto [error, bytes] = co_await stream_->next_layer().async_read_some(room, kUse);
      if (error) co_return false;
      ahead.resize(before + bytes);
    }
  }

  void note_bad_header(std::string_view fault) const {
    const telemetry::RequestScope scope(serving_);
    telemetry::log(telemetry::LogLevel::warning, "bad_proxy_header",
                   {{"peer", peer_.address.text()}, {"reason", fault}});
  }

  // The whole connection counts for the client that the proxy's header names.
  Awaitable<bool> take_client(const ProxyHeader& header) {
    local_ = false;
    if (!header.client) co_return true;
    named_ = true;
    peer_ = {*header.client, peer_.secure || header.secure};
    by_proxy_ = context_.proxies->contains(peer_.address);
    if (by_proxy_) co_return true;
    const Status claimed = slot_.claim(client_network(peer_.address));
    if (claimed) co_return true;
    const Error reason = claimed.error();
    co_await refuse_early(reason);
    co_return false;
  }

  // Refuses the connection before its first request. With TLS no answer is sent, because the
  // handshake has not begun.
  Awaitable<void> refuse_early(const Error& error) {
    if (stream_->tls() == nullptr) co_await refuse(error);
  }

  // Passes the connection on to another server, if that is what this one does. Returns whether the
  // connection needs nothing more here. A connection is answered here if it begins with a request
  // about this server, or if no other server can be reached.
  Awaitable<bool> pass_on() {
    if (context_.onward == nullptr) co_return false;
    expire_after(context_.limits.head_ms);
    Answers answers = who_answers(bytes_read());
    while (answers == Answers::maybe) {
      const asio::mutable_buffer room = buffer_.prepare(kFirstRead);
      auto [error, bytes] = co_await stream_->async_read_some(room, kUse);
      if (error) co_return true;
      buffer_.commit(bytes);
      answers = who_answers(bytes_read());
    }
    if (answers == Answers::itself) co_return false;
    expire_after(context_.limits.reply_ms);
    Link link = co_await open_link();
    if (!stream_->next_layer().is_open()) co_return true;
    if (link.stream == nullptr) co_return false;
    timer_.cancel();
    std::string begun(bytes_read());
    buffer_ = beast::flat_buffer();
    context_.onward->carry(std::move(stream_), std::move(link), std::move(slot_), std::move(begun));
    co_return true;
  }

  std::string_view bytes_read() const {
    const auto bytes = buffer_.cdata();
    return {static_cast<const char*>(bytes.data()), bytes.size()};
  }

  Awaitable<Link> open_link() {
    co_return co_await asio::async_initiate<const asio::use_awaitable_t<hub::Strand>, void(Link)>(
        [this](auto handler) {
          auto shared = std::make_shared<decltype(handler)>(std::move(handler));
          const auto resume = [executor = stream_->get_executor(), shared](Link link) {
            asio::post(executor,
                       [shared, link = std::move(link)]() mutable { (*shared)(std::move(link)); });
          };
          context_.onward->open(stream_->get_executor(), peer_, named_, resume);
        },
        asio::use_awaitable_t<hub::Strand>());
  }

  // Waits for the first bytes of the next request. Meanwhile the connection holds little memory.
  Awaitable<bool> first_bytes() {
    const bool is_first = std::exchange(first_, false);
    if (buffer_.size() != 0) co_return true;
    if (buffer_.capacity() > kFirstRead) buffer_ = beast::flat_buffer();
    expire_after(is_first ? context_.limits.head_ms : context_.limits.keep_alive_ms);
    const asio::mutable_buffer room = buffer_.prepare(kFirstRead);
    auto [error, bytes] = co_await stream_->async_read_some(room, kUse);
    buffer_.commit(bytes);
    co_return !error;
  }

  // Handles one request. Returns false if the connection ends with it.
  Awaitable<bool> serve_one() {
    HeadParser head;
    head.header_limit(context_.limits.head_bytes);
    head.body_limit(boost::none);
    if (shutting_) co_return false;
    idle_ = true;
    if (!co_await first_bytes()) co_return false;
    serving_ = context_.answers.begin();
    expire_after(context_.limits.head_ms);
    auto [error, bytes] = co_await beast::http::async_read_header(*stream_, buffer_, head, kUse);
    idle_ = false;
    asked_at_ = std::chrono::steady_clock::now();
    if (error) {
      co_await refuse_head(error);
      co_return false;
    }
    sending_ = PacedTransfer(context_.limits.pace, steady_now());

    auto request = std::make_shared<http::Request>(request_of(head));
    request->context = serving_;
    const bool has_body = head.chunked() || request->content_length.value_or(0) > 0;
    // A connection that could have been passed on ends here after one answer.
    const bool stays = head.keep_alive() && !shutting_ && context_.onward == nullptr;
    const auto keep = stays ? http::KeepAlive::yes : http::KeepAlive::no;
    const Status known = find_client(head, *request);
    if (!known) {
      http::Response response = http::error_response(known.error());
      co_return co_await finish(*request, std::move(response), keep, has_body);
    }
    http::Plan plan = plan_of(head, *request);
    if (request->token != 0 || !request->device.id.empty()) slot_.prove();
    switch (plan.kind) {
      case http::Plan::Kind::answer:
        co_return co_await finish(*request, std::move(plan.response), keep, has_body);
      case http::Plan::Kind::websocket:
        co_return co_await upgrade(*request, head);
      case http::Plan::Kind::handle:
      case http::Plan::Kind::upload:
        break;
    }

    if (head.chunked() || (takes_body(request->method) && !request->content_length)) {
      http::Response response = http::error_response(Error{
          "length_required", "The request needs a Content-Length; send the body in one piece."});
      co_return co_await finish(*request, std::move(response), http::KeepAlive::no, has_body);
    }
    if (request->content_length.value_or(0) > plan.body_limit) {
      http::Response response =
          plan.kind == http::Plan::Kind::upload
              ? std::move(plan.response)
              : http::error_response(Error{"body_too_large", "The request's body is too large."});
      co_return co_await finish(*request, std::move(response), http::KeepAlive::no, has_body);
    }
    const bool expects = beast::iequals(head.get()[beast::http::field::expect], "100-continue");
    if (expects && has_body && !co_await write_text("HTTP/1.1 100 Continue\r\n\r\n"))
      co_return false;

    BodyParser body(std::move(head));
    if (plan.kind == http::Plan::Kind::upload) co_return co_await serve_upload(request, body, keep);
    if (!co_await read_body(body, request->body)) co_return false;
    http::Response response = co_await ask_site(request);
    co_return co_await finish(*request, std::move(response), keep, false);
  }

  // Asks the site for its plan, and decides on the request's id.
  http::Plan plan_of(const HeadParser& head, http::Request& request) {
    const telemetry::RequestScope scope(serving_);
    http::Plan plan = context_.site->plan(request);
    const bool is_known =
        request.token != 0 && request.principal.state == storage::PrincipalState::active;
    const auto& fields = head.get();
    if ((is_known || (by_proxy_ && context_.proxies_name_requests)) &&
        fields.count("traceparent") == 1) {
      if (const auto client = telemetry::parse_traceparent(fields["traceparent"])) {
        serving_ = request.context = context_.answers.go_on(*client);
        request.parent_span = client->span;
      }
    }
    return plan;
  }

  // Counts and logs an answer that is about to be sent, and gives it the request's id.
  void note_answer(const http::Request& request, http::Response& response) {
    const telemetry::RequestScope scope(serving_);
    context_.answers.note(request, response.status, response.error,
                          std::chrono::steady_clock::now() - asked_at_);
    http::name_request(response, serving_.id());
  }

  static bool takes_body(http::Method method) {
    return method == http::Method::post || method == http::Method::put;
  }

  http::Request request_of(const HeadParser& head) const {
    const auto& message = head.get();
    const auto field = [&message](beast::http::field name) { return std::string(message[name]); };
    http::Request request;
    request.method = method_of(message.method());
    const std::string target(message.target());
    const std::size_t question = target.find('?');
    request.path = target.substr(0, question);
    if (question != std::string::npos) request.query = target.substr(question + 1);
    request.host = field(beast::http::field::host);
    request.authorization = field(beast::http::field::authorization);
    request.accept_encoding = field(beast::http::field::accept_encoding);
    request.if_none_match = field(beast::http::field::if_none_match);
    request.content_type = field(beast::http::field::content_type);
    request.origin = field(beast::http::field::origin);
    request.fetch_site = std::string(message["Sec-Fetch-Site"]);
    if (const auto length = head.content_length()) request.content_length = *length;
    request.secure = peer_.secure;
    return request;
  }

  // Sets the address of the client that sent the request. If a trusted proxy passed the request on,
  // the connection counts for this client until the request is answered.
  Status find_client(const HeadParser& head, http::Request& request) {
    const auto values = [&fields = head.get()](std::string_view name) {
      std::vector<std::string_view> out;
      const auto [first, last] = fields.equal_range(name);
      for (auto field = first; field != last; ++field) out.emplace_back(field->value());
      return out;
    };
    const ForwardedHeaders headers{values("X-Forwarded-For"), values("X-Forwarded-Proto")};
    if (context_.notice != nullptr && !headers.addresses.empty() && !by_proxy_ && !named_)
      context_.notice->note(peer_.address.text(), steady_now());
    request.local = local_ && headers.empty();
    Client client = peer_;
    if (by_proxy_) {
      TRY(client, client_of(peer_, headers, *context_.proxies));
      TRY(slot_.claim(client_network(client.address)));
    }
    request.address = client.address.text();
    request.secure = client.secure;
    return {};
  }

  // Passes the stream to a WebSocket. This object's work is then over, even if the WebSocket cannot
  // be accepted.
  Awaitable<bool> upgrade(const http::Request& request, HeadParser& head) {
    if (!beast::websocket::is_upgrade(head.get()) || buffer_.size() != 0) {
      http::Response response =
          http::error_response(426, Error{"bad_request", "Open this address as a WebSocket."});
      response.headers.emplace_back("Upgrade", "websocket");
      co_return co_await finish(request, std::move(response), http::KeepAlive::no, true);
    }
    timer_.cancel();
    auto handed = std::make_shared<Upgrade>();
    handed->stream = std::move(stream_);
    handed->request = head.release();
    handed->slot = std::move(slot_);
    handed->address = request.address;
    handed->context = serving_;
    const telemetry::RequestScope scope(serving_);  // nothing is awaited any more
    context_.answers.note(request, 101, {}, std::chrono::steady_clock::now() - asked_at_);
    context_.upgrade(std::move(handed));
    co_return false;
  }

  Awaitable<bool> read_body(BodyParser& body, std::string& out) {
    out.resize(body.content_length().value_or(0));
    std::size_t filled = 0;
    PacedTransfer receiving(context_.limits.pace, steady_now());
    while (!body.is_done()) {
      body.get().body().data = out.data() + filled;
      body.get().body().size = out.size() - filled;
      body.get().body().more = true;
      const std::size_t room = out.size() - filled;
      expire_with(receiving);
      auto [error, bytes] = co_await beast::http::async_read_some(*stream_, buffer_, body, kUse);
      receiving.moved(bytes);
      filled += room - body.get().body().size;
      if (error && error != beast::http::error::need_buffer) co_return false;
    }
    co_return true;
  }

  Awaitable<bool> serve_upload(std::shared_ptr<http::Request> request, BodyParser& body,
                               http::KeepAlive keep) {
    auto upload = std::make_shared<Result<std::unique_ptr<http::Upload>>>(Error{});
    http::Response failure;
    bool failed = false;
    const auto note = [&failure, &failed](const Status& status) {
      if (status) return;
      failed = true;
      failure = http::error_response(status.error());
    };
    const auto open = [this, request, upload]() -> Status {
      *upload = context_.site->open_upload(*request);
      return *upload ? Status() : Status(upload->error());
    };
    note(co_await on_reader<Status>(request->lane, open));
    std::string piece;
    PieceSize size(context_.limits.piece_bytes);
    PacedTransfer receiving(context_.limits.pace, steady_now());
    while (!failed && !body.is_done()) {
      size.begin();
      piece.resize(size.bytes());
      body.get().body().data = piece.data();
      body.get().body().size = piece.size();
      body.get().body().more = true;
      // Collects a whole piece before it is written to the disk.
      while (!body.is_done() && body.get().body().size != 0) {
        expire_with(receiving);
        auto [error, bytes] = co_await beast::http::async_read_some(*stream_, buffer_, body, kUse);
        receiving.moved(bytes);
        if (error && error != beast::http::error::need_buffer) co_return false;
      }
      size.end();
      piece.resize(piece.size() - body.get().body().size);
      auto moved = std::make_shared<std::string>(std::move(piece));
      const auto append = [upload, moved]() -> Status { return (**upload)->append(*moved); };
      note(co_await on_reader<Status>(request->lane, append));
      piece = std::move(*moved);
    }
    if (failed)
      co_return co_await finish(*request, std::move(failure), http::KeepAlive::no, !body.is_done());
    const auto close = [upload]() -> Result<http::Response> { return (**upload)->finish(); };
    Result<http::Response> response =
        co_await on_reader<Result<http::Response>>(request->lane, close);
    if (!response) response = http::error_response(response.error());
    co_return co_await finish(*request, std::move(*response), keep, false);
  }

  // Runs `work` on a thread that may block, and resumes on the strand with its result.
  template <typename T, typename Work>
  Awaitable<T> on_reader(const hub::Lane& lane, Work work) {
    expire_after(context_.limits.reply_ms);
    co_return co_await asio::async_initiate<const asio::use_awaitable_t<hub::Strand>, void(T)>(
        [this](auto handler, const hub::Lane& wanted, Work inner) {
          auto shared = std::make_shared<decltype(handler)>(std::move(handler));
          const auto resume = [executor = stream_->get_executor(), shared](T value) {
            asio::post(executor, [shared, value = std::move(value)]() mutable {
              (*shared)(std::move(value));
            });
          };
          const telemetry::RequestScope scope(serving_);
          const hub::Added added =
              context_.readers.post(wanted, [inner, resume]() mutable { resume(inner()); });
          if (added != hub::Added::yes) resume(T(http::overloaded(added)));
        },
        asio::use_awaitable_t<hub::Strand>(), lane, std::move(work));
  }

  Awaitable<http::Response> ask_site(std::shared_ptr<http::Request> request) {
    expire_after(context_.limits.reply_ms);
    co_return co_await asio::async_initiate<const asio::use_awaitable_t<hub::Strand>,
                                            void(http::Response)>(
        [this](auto handler, std::shared_ptr<const http::Request> asked) {
          auto shared = std::make_shared<decltype(handler)>(std::move(handler));
          http::Reply reply = [executor = stream_->get_executor(),
                               shared](http::Response response) {
            asio::post(executor, [shared, response = std::move(response)]() mutable {
              (*shared)(std::move(response));
            });
          };
          http::Site& site = *context_.site;
          const telemetry::RequestScope scope(serving_);
          const hub::Added added = context_.readers.post(
              asked->lane, [&site, asked, reply] { site.handle(asked, reply); });
          if (added != hub::Added::yes) reply(http::error_response(http::overloaded(added)));
        },
        asio::use_awaitable_t<hub::Strand>(),
        std::shared_ptr<const http::Request>(std::move(request)));
  }

  // Sends the answer. If `unread`, the request's body was not read, so the connection must end.
  Awaitable<bool> finish(const http::Request& request, http::Response response,
                         http::KeepAlive keep, bool unread) {
    if (unread) keep = http::KeepAlive::no;
    note_answer(request, response);
    sending_ = PacedTransfer(context_.limits.pace, steady_now());
    const std::string head = http::serialize_head(
        response, keep, request.secure ? http::Scheme::https : http::Scheme::http);
    const bool with_body = request.method != http::Method::head && response.status != 304;
    bool sent = false;
    if (const auto* file = std::get_if<http::FileBody>(&response.body);
        file != nullptr && with_body) {
      const hub::Lane lane = hub::quick_after(request.lane);
      sent = co_await write_text(head) && co_await write_file(*file, lane);
    } else {
      const std::string_view body = with_body ? text_of(response) : std::string_view();
      sent = co_await write_text(head, body);
    }
    if (unread && sent) co_await linger();
    co_return sent&& keep == http::KeepAlive::yes;
  }

  // Answers a request whose head is invalid. Sends nothing if the peer has ended the connection.
  Awaitable<void> refuse_head(ErrorCode error) {
    const bool is_wrong =
        error.category() ==
            beast::http::make_error_code(beast::http::error::bad_method).category() &&
        error != beast::http::error::end_of_stream && error != beast::http::error::partial_message;
    if (!is_wrong) co_return;
    Error reason{"bad_request", "This is not an HTTP request that the server understands."};
    const auto rest = buffer_.cdata();
    const ProxyRead proxy = read_proxy_header({static_cast<const char*>(rest.data()), rest.size()});
    if (error == beast::http::error::header_limit) {
      reason = {"headers_too_large", "The request's headers are too large."};
    } else if (rest.size() != 0 && proxy.state != ProxyRead::State::absent) {
      reason = {"bad_proxy_header",
                "A PROXY header came from an address that is not a trusted proxy of the server "
                "(--trusted-proxy)."};
    }
    co_await refuse(reason);
  }

  Awaitable<void> refuse(const Error& error) {
    http::Response response = http::error_response(error);
    http::Request unread;
    unread.context = serving_;
    note_answer(unread, response);
    sending_ = PacedTransfer(context_.limits.pace, steady_now());
    const std::string head = http::serialize_head(
        response, http::KeepAlive::no, peer_.secure ? http::Scheme::https : http::Scheme::http);
    if (co_await write_text(head, text_of(response))) co_await linger();
  }

  static std::string_view text_of(const http::Response& response) {
    if (const auto* text = std::get_if<std::string>(&response.body)) return *text;
    if (const auto* shared = std::get_if<std::shared_ptr<const std::string>>(&response.body))
      return **shared;
    return {};
  }

  // Sends the head together with the beginning of the body, and then the rest. So a small answer is
  // sent by one write.
  Awaitable<bool> write_text(std::string_view head, std::string_view body = {}) {
    const std::string_view beginning = body.substr(0, kFirstPiece);
    const std::array<asio::const_buffer, 2> buffers{asio::buffer(head), asio::buffer(beginning)};
    expire_with(sending_);
    auto [error, bytes] = co_await asio::async_write(*stream_, buffers, kUse);
    if (error) co_return false;
    sending_.moved(bytes);
    co_return co_await write_rest(body.substr(beginning.size()));
  }

  // Each write sends only what the socket accepts at the moment, so that progress is seen on a slow
  // connection too.
  Awaitable<bool> write_rest(std::string_view rest) {
    while (!rest.empty()) {
      const std::string_view piece = rest.substr(0, context_.limits.piece_bytes);
      expire_with(sending_);
      auto [error, bytes] =
          co_await stream_->async_write_some(asio::const_buffer(piece.data(), piece.size()), kUse);
      if (error) co_return false;
      sending_.moved(bytes);
      rest.remove_prefix(bytes);
    }
    co_return true;
  }

  // The file is open only while a piece is read. So answers to slow peers hold no descriptors.
  Awaitable<bool> write_file(const http::FileBody& file, const hub::Lane& lane) {
    PieceSize size(context_.limits.piece_bytes);
    std::uint64_t sent = 0;
    while (sent < file.bytes) {
      size.begin();
      const std::size_t wanted =
          static_cast<std::size_t>(std::min<std::uint64_t>(file.bytes - sent, size.bytes()));
      const auto read = [path = file.path, sent, wanted]() -> Result<std::string> {
        std::ifstream in(path, std::ios::binary);
        std::string bytes(wanted, '\0');
        in.seekg(static_cast<std::streamoff>(sent));
        if (!in.read(bytes.data(), static_cast<std::streamsize>(wanted)))
          return Error{"internal", "A file ended early."};
        return bytes;
      };
      const Result<std::string> piece = co_await on_reader<Result<std::string>>(lane, read);
      // The file is shorter than announced, or was deleted. So the transfer is broken off, which
      // the peer notices.
      if (!piece || !co_await write_rest(*piece)) co_return false;
      sent += piece->size();
      size.end();
    }
    co_return true;
  }

  Awaitable<void> linger() {
    ErrorCode ignored;
    if (stream_->tls() == nullptr) stream_->next_layer().shutdown(Socket::shutdown_send, ignored);
    std::string sink(std::size_t{16} * 1024, '\0');
    std::size_t taken = 0;
    expire_after(kLingerMs);
    while (taken < kLingerBytes) {
      auto [error, bytes] =
          co_await stream_->next_layer().async_read_some(asio::buffer(sink), kUse);
      if (error) co_return;
      taken += bytes;
    }
  }

  // Limits the time of the next piece of a transfer.
  void expire_with(const PacedTransfer& transfer) {
    expire_after(std::min(context_.limits.transfer_ms, transfer.left_ms(steady_now())));
  }

  // Sets the connection's only timer. When it expires, the awaited operation ends with an error.
  void expire_after(Millis limit) {
    timer_.expires_after(milliseconds(limit));
    timer_.async_wait([weak = weak_from_this()](ErrorCode error) {
      const auto self = weak.lock();
      // The timer was set again just before this handler ran, so the new limit has not passed.
      if (error || !self || self->timer_.expiry() > std::chrono::steady_clock::now()) return;
      self->abort();
    });
  }

  void abort() {
    timer_.cancel();
    if (!stream_) return;  // handed on
    ErrorCode ignored;
    stream_->next_layer().close(ignored);
  }

  const HttpContext& context_;
  std::unique_ptr<Stream> stream_;
  ConnectionSlot slot_;
  Client peer_;         // the client, or the last proxy before the server
  bool local_;          // the socket's other end is on this machine, and no proxy's header came
  bool by_proxy_;       // peer_ is a trusted proxy
  bool named_ = false;  // a PROXY header named the client
  const bool relayed_ = false;
  PacedTransfer sending_{{}, {}};
  hub::Timer timer_;
  beast::flat_buffer buffer_;
  telemetry::RequestContext serving_ = telemetry::new_request();  // the current request
  bool first_ = true;
  bool idle_ = false;
  // When the head of the request was read.
  std::chrono::steady_clock::time_point asked_at_ = std::chrono::steady_clock::now();
  std::atomic<bool> shutting_{false};
};

}  // namespace

void start_http_connection(std::unique_ptr<Stream> stream, ConnectionSlot slot,
                           const IpAddress& peer, const HttpContext& context) {
  std::make_shared<HttpConnection>(std::move(stream), std::move(slot), peer, context)->start();
}

void start_relayed_connection(std::unique_ptr<Stream> stream, ConnectionSlot slot,
                              const RelayedPeer& peer, const HttpContext& context) {
  std::make_shared<HttpConnection>(std::move(stream), std::move(slot), peer, context)->start();
}

}  // namespace hyperflock::net
