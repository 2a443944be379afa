// Implements json_reader.h.
#include "protocol/json/json_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "protocol/json/json_writer.h"

namespace hyperflock::protocol {
namespace {

// Builds the tree from nlohmann's events and stops at the first error. The library's parser keeps
// its stack on the heap, so depth costs only memory, which kMaxDepth limits.
class TreeBuilder final : public nlohmann::json_sax<Json> {
 public:
  Json root;
  std::optional<Error> error;

  bool null() override { return add(Json(nullptr)); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override { return add(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(Json(value)); }
  bool number_float(number_float_t value, const string_t& text) override {
    const bool is_integer = text.find_first_of(".eE") == std::string::npos;
    return add(is_integer ? Json::binary({text.begin(), text.end()}) : Json(value));
  }
  bool string(string_t& value) override { return add(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }  // JSON text has none
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool key(string_t& name) override {
    key_ = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& why) override {
    constexpr int kNumberOverflow = 406;
    if (why.id == kNumberOverflow) {
      std::string field = path();
      error = Error{"bad_number", field + " must be a finite number.", std::move(field)};
    } else {
      error = Error{"malformed",
                    "Send valid JSON: it breaks off at byte " + std::to_string(position) + "."};
    }
    return false;
  }

 private:
  // Inserts the value into the tree and returns its address.
  Json* place(Json value) {
    if (stack_.empty()) {
      root = std::move(value);
      return &root;
    }
    Json& parent = *stack_.back().node;
    if (parent.is_array()) {
      auto& elements = parent.get_ref<Json::array_t&>();
      elements.push_back(std::move(value));
      return &elements.back();
    }
    auto& fields = parent.get_ref<Json::object_t&>();
    // Appends to the map's underlying vector, because the map's own insertion searches all keys.
    static_cast<Json::object_t::Container&>(fields).emplace_back(std::move(key_), std::move(value));
    return &fields.back().second;
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (stack_.size() == kMaxDepth) {
      error = Error{"malformed", "Nest values at most 16 deep."};
      return false;
    }
    Frame frame{nullptr, key_};
    frame.node = place(std::move(value));
    stack_.push_back(std::move(frame));
    return true;
  }
  bool close() {
    const Json& node = *stack_.back().node;
    if (node.is_object() && !check_keys(node.get_ref<const Json::object_t&>())) return false;
    stack_.pop_back();
    return true;
  }
  // Refuses repeated keys, because of two equal keys one reader could use the first and another
  // reader the last.
  bool check_keys(const Json::object_t& fields) {
    const std::string* twice = repeated_key(fields);
    if (twice == nullptr) return true;
    key_ = *twice;
    std::string field = path();
    error = Error{"malformed", "Name " + field + " once in its object.", std::move(field)};
    return false;
  }
  static const std::string* repeated_key(const Json::object_t& fields) {
    constexpr std::size_t kFew = 16;  // comparing all pairs is faster up to this number
    if (fields.size() <= kFew) {
      for (auto one = fields.begin(); one != fields.end(); ++one) {
        for (auto other = fields.begin(); other != one; ++other) {
          if (one->first == other->first) return &one->first;
        }
      }
      return nullptr;
    }
    std::vector<const std::string*> keys;
    keys.reserve(fields.size());
    for (const auto& field : fields) keys.push_back(&field.first);
    const auto less = [](const auto* a, const auto* b) { return *a < *b; };
    const auto same = [](const auto* a, const auto* b) { return *a == *b; };
    std::sort(keys.begin(), keys.end(), less);
    const auto found = std::adjacent_find(keys.begin(), keys.end(), same);
    return found == keys.end() ? nullptr : *found;
  }
  // Returns the path of the value that comes next.
  std::string path() const {
    std::string out;
    for (std::size_t i = 0; i < stack_.size(); ++i) {
      const Json& node = *stack_[i].node;
      if (node.is_array()) {
        const bool last = i + 1 == stack_.size();
        out += '[' + std::to_string(node.size() - (last ? 0 : 1)) + ']';
      } else {
        if (!out.empty()) out += '.';
        out += i + 1 < stack_.size() ? stack_[i + 1].key : key_;
      }
    }
    return out;
  }

  struct Frame {
    Json* node;
    std::string key;  // its key in its parent, if that is an object
  };
  std::vector<Frame> stack_;
  std::string key_;
};

}  // namespace

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

Result<Json> parse_object(std::string_view text) {
  if (text.size() > kMaxFrameBytes)
    return Error{"frame_too_large", "Send at most 1 MiB in one message."};
  TreeBuilder builder;
  const bool parsed = Json::sax_parse(text.begin(), text.end(), &builder);
  if (builder.error) return *std::move(builder.error);
  if (!parsed || !builder.root.is_object()) return Error{"malformed", "Send one JSON object."};
  return std::move(builder.root);
}

void append_json(std::string& out, const Json& json) {
  switch (json.type()) {
    case Json::value_t::boolean:
      out += json.get_ref<const bool&>() ? "true" : "false";
      return;
    case Json::value_t::number_integer:
      return append_integer(out, json.get_ref<const std::int64_t&>());
    case Json::value_t::number_unsigned:
      return append_unsigned(out, json.get_ref<const std::uint64_t&>());
    case Json::value_t::number_float:
      return append_float(out, json.get_ref<const double&>());
    case Json::value_t::string:
      return append_string(out, json.get_ref<const std::string&>());
    case Json::value_t::array:
      return append_list(out, json.get_ref<const Json::array_t&>(),
                         [&](const Json& element) { append_json(out, element); });
    case Json::value_t::object: {
      out += '{';
      bool first = true;
      for (const auto& [key, value] : json.get_ref<const Json::object_t&>()) {
        if (!first) out += ',';
        first = false;
        append_string(out, key);
        out += ':';
        append_json(out, value);
      }
      out += '}';
      return;
    }
    case Json::value_t::binary: {
      const std::vector<std::uint8_t>& digits = json.get_binary();
      out.append(digits.begin(), digits.end());
      return;
    }
    default:
      out += "null";
  }
}

Value Value::find(std::string_view key) const {
  if (json_ == nullptr || !json_->is_object()) return {nullptr, this, key, 0};
  const auto& fields = json_->get_ref<const Json::object_t&>();
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const auto& field) { return field.first == key; });
  return {found == fields.end() ? nullptr : &found->second, this, key, 0};
}

Value Value::operator[](std::string_view key) const {
  const bool searched = require_object();
  const Value value = find(key);
  if (searched && !value.present())
    value.note("missing_field", "Add the field " + value.path() + ".");
  return value;
}

bool Value::require_object() const {
  if (json_ == nullptr) return false;
  if (!json_->is_object()) bad_field("an object");
  return json_->is_object();
}

const std::string* Value::string() const {
  if (json_ == nullptr) return nullptr;
  const auto* text = json_->get_ptr<const std::string*>();
  if (text == nullptr) bad_field("a string");
  return text;
}

std::string Value::as_text(std::size_t limit) const {
  const std::string* text = string();
  if (text == nullptr) return {};
  if (text->size() <= limit || characters(*text) <= limit) return *text;
  too_long(limit, "characters");
  return {};
}

std::string Value::as_text_bytes(std::size_t limit) const {
  const std::string* text = string();
  if (text == nullptr) return {};
  if (text->size() <= limit) return *text;
  too_long(limit, "bytes");
  return {};
}

std::int64_t Value::as_integer(IntegerRange range) const {
  if (json_ == nullptr) return range.low;
  std::int64_t value = 0;
  bool fits = true;
  if (const auto* whole = json_->get_ptr<const Json::number_unsigned_t*>()) {
    fits = *whole <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (fits) value = static_cast<std::int64_t>(*whole);
  } else if (json_->is_number_integer()) {
    value = json_->get_ref<const std::int64_t&>();
  } else if (const auto* number = json_->get_ptr<const double*>()) {
    // JavaScript writes and reads 5.0 as 5, so a number without a fraction is an integer.
    if (*number != std::trunc(*number)) {
      bad_field("an integer");
      return range.low;
    }
    fits = std::abs(*number) <= static_cast<double>(kMaxWireInteger);
    if (fits) value = static_cast<std::int64_t>(*number);
  } else if (json_->is_binary()) {
    fits = false;
  } else {
    bad_field("an integer");
    return range.low;
  }
  if (fits && value >= range.low && value <= range.high) return value;
  note("bad_number", path() + " must be an integer from " + std::to_string(range.low) + " to " +
                         std::to_string(range.high) + ".");
  return range.low;
}

double Value::as_number() const {
  if (json_ == nullptr) return 0;
  if (json_->is_binary()) {  // JavaScript writes 1e20 with all its digits
    const std::vector<std::uint8_t>& digits = json_->get_binary();
    return std::strtod(std::string(digits.begin(), digits.end()).c_str(), nullptr);
  }
  if (!json_->is_number()) {
    bad_field("a number");
    return 0;
  }
  return json_->get<double>();
}

std::optional<double> Value::as_logged() const {
  if (json_ == nullptr || json_->is_null()) return std::nullopt;
  const auto* text = json_->get_ptr<const std::string*>();
  if (text == nullptr) return as_number();
  using Limits = std::numeric_limits<double>;
  if (*text == kNan) return Limits::quiet_NaN();
  if (*text == kInfinity) return Limits::infinity();
  if (*text == kMinusInfinity) return -Limits::infinity();
  bad_field(R"(a number, "NaN", "Infinity" or "-Infinity")");
  return std::nullopt;
}

bool Value::as_bool() const {
  if (json_ == nullptr) return false;
  const auto* value = json_->get_ptr<const bool*>();
  if (value == nullptr) bad_field("true or false");
  return value != nullptr && *value;
}

std::size_t Value::array_size(std::size_t limit) const {
  if (json_ == nullptr) return 0;
  if (!json_->is_array()) {
    bad_field("an array");
    return 0;
  }
  if (json_->size() <= limit) return json_->size();
  note("too_many", "Send at most " + std::to_string(limit) + " entries in " + path() + ".");
  return 0;
}

Value Value::element(std::size_t index) const { return {&(*json_)[index], this, {}, index}; }

void Value::bad_field(std::string_view wanted) const {
  note("bad_field", path() + " must be " + std::string(wanted) + ".");
}

void Value::too_long(std::size_t limit, std::string_view unit) const {
  note("too_long",
       path() + " may have at most " + std::to_string(limit) + ' ' + std::string(unit) + ".");
}

void Value::note(std::string code, std::string message) const {
  problem_->note(std::move(code), std::move(message), path());
}

std::string Value::path() const {
  if (parent_ == nullptr) return {};
  std::string out = parent_->path();
  if (key_.empty()) return out + '[' + std::to_string(index_) + ']';
  if (!out.empty()) out += '.';
  return out += key_;
}

}  // namespace hyperflock::protocol
