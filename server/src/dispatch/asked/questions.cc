// Handles calls of devices that a study's owner answers: suggestions and pruning (R43, R47, R48).
#include <algorithm>

#include "dispatch/state.h"
#include "protocol/json/json_writer.h"
#include "protocol/schema/limits.h"

namespace hyperflock::dispatch {

namespace {

using protocol::append_string;

std::string quoted(std::string_view text) {
  std::string out;
  append_string(out, text);
  return out;
}

// Returns the code and the message of an owner's error as one text of at most kMaxMessage bytes,
// cut between two characters.
std::string owner_text(const protocol::OwnerAnswer& given) {
  std::string text = given.code + ": " + given.message;
  if (text.size() <= protocol::kMaxMessage) return text;
  std::size_t end = protocol::kMaxMessage;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

const storage::Suggestion* find_name(const AskedPart& part, const std::string& name) {
  const auto found = std::find_if(part.log.begin(), part.log.end(),
                                  [&](const auto& one) { return one.name == name; });
  return found == part.log.end() ? nullptr : &*found;
}

void add_value(std::string& params, const std::string& name, const std::string& value) {
  params.pop_back();
  if (params.size() > 1) params += ',';
  params += quoted(name) + ':' + value + '}';
}

}  // namespace

std::size_t bytes_of(const storage::Suggestion& one) {
  constexpr std::size_t kMarks = 5;  // `:[` before and `,` in the pair, `],` after it
  return quoted(one.name).size() + quoted(one.distribution).size() + quoted(one.value).size() +
         kMarks;
}

std::string log_text(const std::vector<storage::Suggestion>& log) {
  std::string out = "{";
  for (const storage::Suggestion& one : log) {
    if (out.size() > 1) out += ',';
    out += quoted(one.name) + ":[" + quoted(one.distribution) + ',' + quoted(one.value) + ']';
  }
  return out + '}';
}

std::string params_text(const std::vector<storage::Suggestion>& log) {
  std::string out = "{}";
  for (const storage::Suggestion& one : log) add_value(out, one.name, one.value);
  return out;
}

// ---- calls of devices

void State::carry(SessionId session, const protocol::Call& call, std::optional<TrialKey> late) {
  const auto found = attempts.find(call.attempt);
  if (found != attempts.end()) late = found->second.trial;
  Study* study = late ? find_study(late->study) : nullptr;
  if (study != nullptr && study->asked) {
    if (call.method == "suggest") return carry_suggest(session, call, *study, *late);
    return carry_prune(session, call, *study, *late);
  }
  // The answer to `should_prune` is false: a grid has no pruner, and a finished trial is not
  // pruned.
  if (call.method != "suggest") return send(session, protocol::Reply{call.id, false});
  send_error(session, study == nullptr ? "study_stopped" : "unknown_method", call.attempt, call.id);
}

void State::carry_suggest(SessionId session, const protocol::Call& call, Study& study,
                          TrialKey key) {
  Trial* trial = find_trial(key);
  if (trial == nullptr || study.ending)
    return send_error(session, "study_stopped", call.attempt, call.id);
  AskedPart& part = *trial->asked;
  if (const storage::Suggestion* known = find_name(part, call.name)) {
    if (known->distribution != call.distribution)
      return send_error(session, "suggest_mismatch", call.attempt, call.id);
    return send(session, protocol::Reply{.id = call.id, .text = known->value});
  }
  const auto live = attempts.find(call.attempt);
  if (live == attempts.end()) return send_error(session, "unknown_attempt", call.attempt, call.id);
  if (live->second.questions.size() >= kMaxWaitingCalls)
    return send_error(session, "rate_limited", call.attempt, call.id);
  const Waiter waiter{session, call.attempt, call.id};
  if (const auto open = part.open_questions.find(call.name); open != part.open_questions.end()) {
    Question& question = study.asked->questions.at(open->second);
    if (question.distribution != call.distribution)
      return send_error(session, "suggest_mismatch", call.attempt, call.id);
    question.waiters.push_back(waiter);
    live->second.questions.push_back(open->second);
    return;
  }
  if (part.log_bytes + bytes_of(storage::Suggestion{call.name, call.distribution, ""}) >
      protocol::kMaxSuggestedBytes) {
    return send_error(session, "too_long", call.attempt, call.id);
  }
  part.open_questions.emplace(call.name, next_question);
  ask_owner(study, {.trial = key,
                    .attempt = call.attempt,
                    .name = call.name,
                    .distribution = call.distribution,
                    .since = now,
                    .waiters = {waiter}});
}

void State::carry_prune(SessionId session, const protocol::Call& call, Study& study, TrialKey key) {
  const Trial* trial = find_trial(key);
  const auto live = attempts.find(call.attempt);
  const bool leads = trial != nullptr && live != attempts.end() && !study.ending &&
                     trial->asked->lead == call.attempt;
  if (!leads) return send(session, protocol::Reply{call.id, false});
  if (live->second.questions.size() >= kMaxWaitingCalls)
    return send_error(session, "rate_limited", call.attempt, call.id);
  ask_owner(study, {.trial = key,
                    .attempt = call.attempt,
                    .step = call.step,
                    .since = now,
                    .waiters = {{session, call.attempt, call.id}}});
}

void State::ask_owner(Study& study, Question question) {
  const std::int64_t id = next_question++;
  attempts.at(question.attempt).questions.push_back(id);
  const AttemptId attempt = question.attempt;
  const bool prunes = question.name.empty();
  study.asked->questions.emplace(id, std::move(question));
  ask_again(study, id,
            prunes ? take_newest_points(study, attempt) : std::vector<protocol::Point>());
  arm_silence(study);
}

// Takes the attempt's newest points out of the waiting items, to send them with the call.
std::vector<protocol::Point> State::take_newest_points(Study& study, AttemptId attempt) {
  Asked& asked = *study.asked;
  auto* last =
      asked.items.empty() ? nullptr : std::get_if<protocol::PointsCall>(&asked.items.back());
  if (last == nullptr || last->attempt != attempt) return {};
  asked.item_bytes -= bytes_of(asked.items.back());
  std::vector<protocol::Point> points = std::move(last->points);
  asked.items.pop_back();
  return points;
}

void State::ask_again(Study& study, std::int64_t id, std::vector<protocol::Point> points) {
  const Question& one = study.asked->questions.at(id);
  if (one.name.empty()) {
    return add_item(study, protocol::PruneCall{.id = id,
                                               .trial = one.trial.number,
                                               .attempt = one.attempt,
                                               .step = one.step,
                                               .points = std::move(points)});
  }
  add_item(study,
           protocol::SuggestCall{id, one.trial.number, one.attempt, one.name, one.distribution});
}

// ---- an owner's answers

void State::answer(Study& study, const protocol::OwnerAnswer& given) {
  const auto found = study.asked->questions.find(given.id);
  if (found == study.asked->questions.end()) return;  // it was answered before
  Question& question = found->second;
  if (question.value) return;
  if (!given.code.empty())
    return refuse_question(study, given.id, "owner_error", owner_text(given));
  if (question.name.empty()) {
    if (given.value != "true" && given.value != "false") {
      return refuse_question(study, given.id, "owner_error",
                             "The owner answered neither true nor false.");
    }
    for (const Waiter& waiter : take_question(study, given.id).waiters)
      send(waiter.session, protocol::Reply{waiter.id, given.value == "true"});
    return;
  }
  Trial* trial = find_trial(question.trial);
  AskedPart& part = *trial->asked;
  const storage::Suggestion one{question.name, question.distribution, given.value};
  std::string params = part.next_position == 0 ? "{}" : part.params;
  add_value(params, one.name, one.value);
  const std::size_t log_bytes = part.log_bytes + bytes_of(one);
  if (params.size() > protocol::kMaxParamsBytes || log_bytes > protocol::kMaxSuggestedBytes)
    return refuse_question(study, given.id, "too_long");
  part.params = params;
  part.log_bytes = log_bytes;
  question.value = given.value;
  propose(storage::StoreSuggestion{.trial = question.trial,
                                   .generation = study.asked->generation,
                                   .position = part.next_position++,
                                   .suggestion = one,
                                   .params = std::move(params)},
          PendingSuggestion{study.id, given.id});
}

void State::on_outcome(PendingSuggestion& what, const storage::Outcome& outcome) {
  Study* study = find_study(what.study);
  if (study == nullptr) return;
  const auto found = study->asked->questions.find(what.question);
  if (found == study->asked->questions.end()) return;  // its trial is over
  Question& question = found->second;
  AskedPart& part = *find_trial(question.trial)->asked;
  const storage::Suggestion one{question.name, question.distribution, *question.value};
  if (outcome.applied == storage::Applied::applied) {
    part.log.push_back(one);
    changed.insert(study->id);
    for (const Waiter& waiter : take_question(*study, what.question).waiters)
      send(waiter.session, protocol::Reply{.id = waiter.id, .text = one.value});
    return;
  }
  // The answer is out of date: the study has a new owner (R51), or another server changed the row.
  // The question is sent again.
  part.log_bytes -= bytes_of(one);
  part.params = params_text(part.log);
  question.value.reset();
  ask_again(*study, what.question);
  arm_silence(*study);
}

void State::refuse_question(Study& study, std::int64_t id, std::string_view code,
                            std::string_view message) {
  for (const Waiter& waiter : take_question(study, id).waiters)
    send_error(waiter.session, code, waiter.attempt, waiter.id, message);
}

Question State::take_question(Study& study, std::int64_t id) {
  auto node = study.asked->questions.extract(id);
  Question question = std::move(node.mapped());
  if (Trial* trial = find_trial(question.trial); trial != nullptr && !question.name.empty())
    trial->asked->open_questions.erase(question.name);
  for (const Waiter& waiter : question.waiters) {
    const auto attempt = attempts.find(waiter.attempt);
    if (attempt != attempts.end()) std::erase(attempt->second.questions, id);
  }
  return question;
}

void State::drop_waiters(Study& study, AttemptId id, const Attempt& attempt) {
  for (const std::int64_t asked : attempt.questions) {
    const auto found = study.asked->questions.find(asked);
    if (found == study.asked->questions.end()) continue;
    std::erase_if(found->second.waiters, [id](const Waiter& one) { return one.attempt == id; });
    // A question for a suggestion stays open, because the trial's next attempt uses the answer. A
    // question about pruning is removed, because its answer is no longer needed.
    if (found->second.name.empty()) study.asked->questions.erase(found);
  }
}

void State::refuse_trial(Study& study, TrialKey key) {
  const Trial& trial = *find_trial(key);
  std::vector<std::int64_t> ids;
  for (const auto& [name, id] : trial.asked->open_questions) ids.push_back(id);
  for (const AttemptId open : trial.open) {
    for (const std::int64_t id : attempts.at(open).questions) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (const std::int64_t id : ids) refuse_question(study, id, "study_stopped");
}

// ---- calls that no owner answers in time

void State::arm_silence(Study& study) {
  Asked& asked = *study.asked;
  if (asked.owner) return;
  std::optional<Instant> first;
  for (const auto& [id, question] : asked.questions) {
    if (question.value) continue;
    const Instant at = std::max(question.since, asked.away) + settings.call_ms;
    if (!first || at < *first) first = at;
  }
  if (asked.due == first) return;
  if (asked.due) silences.erase({*asked.due, study.id});
  asked.due = first;
  if (first) silences.emplace(*first, study.id);
}

}  // namespace hyperflock::dispatch
