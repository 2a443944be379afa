// Stores the blobs that researchers upload: the code and data of their studies. An upload of bytes
// that the server has can be left out after a proof that the caller has them (R69).
#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "auth/tokens.h"
#include "blobs/sha256.h"
#include "http/console/console_rest.h"
#include "http/core/body.h"
#include "http/core/possession.h"
#include "hub/await_commit.h"
#include "protocol/json/json_writer.h"

namespace hyperflock::http {
namespace {

using protocol::ObjectWriter;

class BlobUpload final : public Upload {
 public:
  BlobUpload(std::unique_ptr<blobs::CollectedBlobs::Upload> upload, Hub& hub, storage::OwnBlob own)
      : upload_(std::move(upload)), hub_(hub), own_(std::move(own)) {}

  Status append(std::string_view bytes) override {
    return upload_->append(std::as_bytes(std::span(bytes)));
  }

  Response finish() override {
    const auto stored = upload_->finish();
    if (!stored) return error_response(stored.error());
    own_.bytes = static_cast<std::int64_t>(stored->bytes);
    const auto owned = take_over();
    if (!owned) return error_response(owned.error());
    // The answer does not depend on whether somebody else had the blob.
    return object_response(owned->applied == storage::Applied::applied ? 201 : 200,
                           [this](ObjectWriter& body) { body.text("sha256", own_.sha256); });
  }

 private:
  // Counts the blob in the quota of the researcher who uploaded it. Waits for the commit.
  Result<storage::Outcome> take_over() const {
    constexpr std::chrono::seconds kPatience{5};
    const auto begin = [this](const hub::Committed& done) {
      hub_.commit({own_}, [done, upload = upload_](const Result<storage::Outcome>& outcome) {
        // Callbacks of commits run in the order of the commits, as CollectedBlobs::drop() requires.
        if (outcome && !outcome->excess) upload->named();
        done(outcome);
      });
    };
    const Error late{"storage_unavailable", "The server is about to stop; upload the blob again."};
    TRY(const auto got, hub::await_commit(kPatience, late, begin));
    if (got.excess) return storage::quota_error(*got.excess);
    return got;
  }

  // The commit's callback shares this object, so the blob stays until the callback has run.
  const std::shared_ptr<blobs::CollectedBlobs::Upload> upload_;
  Hub& hub_;
  storage::OwnBlob own_;
};

Error too_large(const SiteContext& context) {
  return Error{"blob_too_large", "A blob may have at most " +
                                     std::to_string(context.max_blob_bytes) +
                                     " bytes on this server."};
}

Error unknown_blob() { return {"unknown_blob", "Upload this blob; the server has none of yours."}; }

// Returns whether the server has the blob, and the person has uploaded it or has a study that names
// it. So nobody learns anything about blobs of others (R69).
Result<bool> is_owned(const SiteContext& context, const std::string& person,
                      const std::string& sha256) {
  TRY(const auto others, context.storage.not_owned(person, {sha256}));
  return others.empty() && context.blobs.exists(sha256);
}

Result<Response> head_blob(const SiteContext& context, const Request& request) {
  TRY(const bool owned, is_owned(context, request.principal.name, request.captures.front()));
  if (owned) return json_response(200, "");
  return error_response(404, unknown_blob());
}

// Returns an error if this many more bytes would exceed the caller's quota.
Status check_quota(const SiteContext& context, const Request& request, std::int64_t bytes) {
  const storage::Quota quota = quota_of(request.principal);
  if (quota.bytes == 0) return {};
  TRY(const auto used, context.storage.usage(request.principal.name));
  if (const auto excess = storage::excess_of(quota, used, {0, 0, bytes}))
    return storage::quota_error(*excess);
  return {};
}

struct SaltQuery {
  std::int64_t bytes = 0;
};

// Gives a salt for a proof that the caller has the blob's bytes. The answer is the same whether the
// server has the blob or not.
Result<Response> give_salt(const SiteContext& context, const Request& request) {
  const std::string& sha256 = request.captures.front();
  if (!blobs::is_sha256(sha256))
    return Error{"bad_field", "A blob's name is its SHA-256.", "sha256"};
  TRY(const auto query, parse_body<SaltQuery>(request.body, [](const auto& in, auto& out) {
        out.bytes = in["bytes"].as_integer();
      }));
  const std::int64_t bytes = query.bytes;
  TRY(const bool owned, is_owned(context, request.principal.name, sha256));
  if (owned) return object_response(200, [](ObjectWriter& body) { body.boolean("owned", true); });
  if (static_cast<std::uint64_t>(bytes) > context.max_blob_bytes) return too_large(context);
  TRY(check_quota(context, request, bytes));
  return object_response(200, [&](ObjectWriter& body) {
    body.boolean("owned", false);
    if (bytes >= kLeastProvedBytes)
      body.text("salt", context.possession.new_salt({request.principal.name, sha256, bytes}));
  });
}

struct ProofQuery {
  std::string salt;
  std::string proof;
};

// Computes the proof from the server's copy of the blob and compares it with the caller's proof.
// Runs in the costly lane. If the two are equal, the caller owns the blob from now on.
void check_proof(const SiteContext& context, const PossessionClaim& claim, const ProofQuery& query,
                 const storage::Quota& quota, const Reply& reply) {
  const std::shared_ptr<blobs::CollectedBlobs::Hold> hold = context.blobs.hold({claim.sha256});
  auto path = context.blobs.path_of(claim.sha256);
  const auto bytes = context.blobs.size(claim.sha256);
  if (bytes != static_cast<std::uint64_t>(claim.bytes)) path.reset();
  const std::string right = salted_hash(query.salt, path, claim.bytes);
  if (right.empty() || !auth::equal_in_constant_time(right, query.proof))
    return reply(error_response(404, unknown_blob()));
  context.hub.commit(
      {storage::OwnBlob{claim.person, claim.sha256, claim.bytes, quota}},
      [hold, sha256 = claim.sha256, reply](const Result<storage::Outcome>& outcome) {
        if (!outcome) return reply(error_response(outcome.error()));
        if (outcome->excess) return reply(error_response(storage::quota_error(*outcome->excess)));
        hold->named();
        reply(object_response(200, [&](ObjectWriter& body) { body.text("sha256", sha256); }));
      });
}

Status prove(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto query, parse_body<ProofQuery>(request.body, [](const auto& in, auto& out) {
        out.salt = in["salt"].as_text(64);
        out.proof = in["proof"].as_text(64);
      }));
  const std::string& person = request.principal.name;
  const auto claim = context.possession.take(person, request.captures.front(), query.salt);
  if (!claim) {
    return Error{"unknown_salt",
                 "The server gave you no such salt for this blob, or it was used: ask for one.",
                 "salt"};
  }
  const auto admitted = context.admission.admit_proof(person, claim->bytes);
  if (!admitted) {
    return Error{"rate_limited",
                 "Many proofs came from you just now; upload the blob, or wait.",
                 {},
                 admitted.wait_s};
  }
  if (!context.possession.begin(person))
    return Error{
        "rate_limited", "Another proof of yours is computed; upload the blob, or wait.", {}, 1};
  hub::Lane lane = request.lane;
  lane.band = hub::Band::costly;
  // The proof counts as ended before its answer is sent. Otherwise the person's next proof, sent on
  // that answer, could be refused.
  const Reply ended = [&context, person, reply](Response response) {
    context.possession.end(person);
    reply(std::move(response));
  };
  const hub::Added added = context.readers.post(
      lane, [&context, claim = *claim, query, quota = quota_of(request.principal), ended] {
        check_proof(context, claim, query, quota, ended);
      });
  if (added == hub::Added::yes) return {};
  context.possession.end(person);
  return overloaded(added);
}

std::uint64_t max_bytes(const SiteContext& context) { return context.max_blob_bytes; }

Result<std::unique_ptr<Upload>> open_upload(const SiteContext& context, const Request& request) {
  storage::OwnBlob own{request.principal.name, request.captures.front(), 0,
                       quota_of(request.principal)};
  // The quota is checked before the body is read. A blob that the caller owns is counted already.
  if (own.quota.bytes > 0) {
    TRY(const auto others, context.storage.not_owned(own.owner, {own.sha256}));
    const auto bytes = static_cast<std::int64_t>(request.content_length.value_or(0));
    if (!others.empty()) TRY(check_quota(context, request, bytes));
  }
  TRY(auto upload, context.blobs.begin(own.sha256));
  return std::unique_ptr<Upload>(
      std::make_unique<BlobUpload>(std::move(upload), context.hub, std::move(own)));
}

constexpr UploadHandler kUpload{max_bytes, too_large, open_upload};

constexpr std::array<Route, 4> kBlobRoutes{{
    {Method::head, "/api/blobs/{}", Access::principal, answer<head_blob>},
    {Method::post, "/api/blobs/{}/salt", Access::principal, answer<give_salt>, kSmallBody},
    grows(
        {Method::post, "/api/blobs/{}/proof", Access::principal, answer_later<prove>, kSmallBody}),
    {Method::put, "/api/blobs/{}", Access::principal, nullptr, 0, &kUpload},
}};

}  // namespace

std::span<const Route> blob_routes() { return kBlobRoutes; }

}  // namespace hyperflock::http
