#include "settings/layers.h"

#include <utility>

#include "names/names.h"

namespace hyperflock::settings {
namespace {

// Divides the text of an environment variable at commas and spaces.
Words divided(std::string_view text) {
  Words words;
  constexpr std::string_view kBetween = ", ";
  for (;;) {
    const std::size_t start = text.find_first_not_of(kBetween);
    if (start == std::string_view::npos) return words;
    text.remove_prefix(start);
    const std::size_t end = text.find_first_of(kBetween);
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(words.back().size());
  }
}

class Layers {
 public:
  explicit Layers(const Given& given) : given_(given) {}

  Effective put_together() {
    made_.file = given_.file;
    if (const char* named = variable(kFileVariable); made_.file.empty() && named != nullptr)
      made_.file = named;
    if (!made_.file.empty()) file_ = read_file(made_.file);
    made_.faults = std::move(file_.faults);
    for (const Setting& setting : table()) take(setting);
    ServeConfig& config = made_.config;
    for (std::string* name : {&config.project, &config.researcher}) *name = names::nfc(*name);
    for (std::string* url : {&config.public_url, &config.console_url, &config.data_url})
      while (url->ends_with('/')) url->pop_back();
    if (!config.domain.empty()) complete_domain();
    if (made_.faults.empty()) check_together();
    return std::move(made_);
  }

 private:
  // An empty variable counts as not set, because people write `NAME= program` to remove a variable.
  const char* variable(const std::string& name) const {
    const char* text = given_.environment(name);
    return text == nullptr || *text == '\0' ? nullptr : text;
  }

  void take(const Setting& setting) {
    if (const auto entry = file_.entries.find(setting.name); entry != file_.entries.end())
      put(setting, entry->second.value, entry->second.where);
    if (const char* text = variable(setting.environment())) {
      const Words words = setting.form.kind == Kind::list ? divided(text) : Words{text};
      read(setting, words, setting.environment());
    }
    if (const auto flag = given_.flags.find(setting.name); flag != given_.flags.end())
      read(setting, flag->second, setting.flag());
  }

  void read(const Setting& setting, const Words& words, const std::string& where) {
    auto value = setting.form.read(words);
    if (value)
      put(setting, std::move(*value), where);
    else
      made_.faults.push_back({where, value.error().message});
  }

  void put(const Setting& setting, Value value, const std::string& where) {
    setting.form.put(made_.config, std::move(value));
    made_.sources[setting.name] = where;
  }

  void complete_domain() {
    const auto given = [this](const char* name) { return made_.sources.contains(name); };
    const OfDomain known{.compute = given("compute"),
                         .public_url = given("public-url"),
                         .console_url = given("console-url"),
                         .acme_email = given("acme-email")};
    apply_domain(made_.config, known);
  }

  void check_together() {
    const std::string where = made_.file.empty() ? "serve" : made_.file;
    if (made_.config.state_dir.empty())
      made_.faults.push_back({where,
                              "Name the state folder: --state FOLDER, state in the file, or "
                              "HYPERFLOCK_STATE."});
    const Status checked = check(made_.config);
    if (!checked) made_.faults.push_back({where, checked.error().message});
  }

  const Given& given_;
  FileSettings file_;
  Effective made_;
};

}  // namespace

Effective put_together(const Given& given) { return Layers(given).put_together(); }

}  // namespace hyperflock::settings
