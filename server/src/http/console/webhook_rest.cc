// Checks the webhooks of studies, and serves the key with which deliveries are signed (R62). The
// routes that set the webhook of a study are in study_rest.cc.
#include <array>
#include <utility>

#include "auth/tokens.h"
#include "http/console/console_rest.h"
#include "http/core/body.h"
#include "protocol/json/json_writer.h"

namespace hyperflock::http {
namespace {

struct SecretBody {
  bool renew = false;
};

// Returns the caller's key, and makes one if there is none or if the caller wants a new one.
Status secret(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto wanted,
      parse_body<SecretBody>(request.body, [](const protocol::Value& in, SecretBody& body) {
        const protocol::Value renew = in.find("renew");
        if (renew.present()) body.renew = renew.as_bool();
      }));
  const std::string owner = request.principal.name;
  storage::NoteAudit note = note_of(request, "webhook.secret", owner);
  storage::StoreWebhookSecret store{owner, auth::new_token(auth::TokenKind::webhook_secret),
                                    wanted.renew};
  context.hub.commit(
      {std::move(store), std::move(note)},
      [&context, owner, lane = request.lane, reply](const Result<storage::Outcome>& stored) {
        if (!stored) return reply(error_response(stored.error()));
        const auto read = [&context, owner]() -> Result<Response> {
          TRY(const auto kept, context.storage.webhook_secret(owner));
          return object_response(200, [&](protocol::ObjectWriter& body) {
            body.text("secret", kept.value_or(std::string()));
          });
        };
        const hub::Added added =
            context.readers.post(lane, [read, reply] { respond(reply, read()); });
        if (added != hub::Added::yes) respond(reply, overloaded(added));
      });
  return {};
}

constexpr std::array<Route, 1> kWebhookRoutes{{
    grows(
        {Method::post, "/api/webhook-secret", Access::principal, answer_later<secret>, kSmallBody}),
}};

}  // namespace

Status check_webhook(const SiteContext& context, const protocol::Webhook& webhook) {
  if (context.webhooks == nullptr)
    return Error{"webhooks_off", "The operator of this server allows no webhooks.", "webhook"};
  TRY(const auto url, webhook::parse_url(webhook.url));
  return context.webhooks->judge(url);
}

std::span<const Route> webhook_routes() { return kWebhookRoutes; }

}  // namespace hyperflock::http
