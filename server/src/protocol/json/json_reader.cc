// Implements json_reader.h.
#include "protocol/json/json_reader.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "protocol/json/json_writer.h"

namespace hyperflock::protocol {
namespace {

namespace json = boost::json;
using boost::system::error_code;

// Builds the tree from the parser's events and stops at the first error. The parser's own tree
// would drop repeated keys and long integers.
class TreeBuilder {
 public:
  // What the parser asks for. The sizes are limited by that of the whole text.
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

  explicit TreeBuilder(std::size_t text_bytes)
      : arena_(std::make_unique<std::pmr::monotonic_buffer_resource>(kFirstBytes + text_bytes)) {}

  std::optional<Error> error;

  // REQUIRES: the parser has read one value.
  Json tree() { return {std::move(arena_), open_nodes_.front()}; }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code& ec) { return open(JsonKind::object, ec); }
  bool on_object_end(std::size_t count, error_code& ec) {
    const JsonNode* const first = open_nodes_.data() + open_nodes_.size() - 2 * count;
    auto* const fields = allocate<JsonField>(count);
    for (std::size_t i = 0; i < count; ++i)
      std::construct_at(fields + i, JsonField{first[2 * i].text(), first[2 * i + 1]});
    if (const std::string_view* twice = repeated_key({fields, count})) {
      std::string field = path(*twice);
      return refuse(Error{"malformed", "Name " + field + " once in its object.", std::move(field)},
                    ec);
    }
    open_.pop_back();
    open_nodes_.resize(open_nodes_.size() - 2 * count);
    return add(JsonNode(static_cast<std::uint32_t>(count), fields));
  }
  bool on_array_begin(error_code& ec) { return open(JsonKind::array, ec); }
  bool on_array_end(std::size_t count, error_code&) {
    auto* const elements = allocate<JsonNode>(count);
    std::uninitialized_copy_n(open_nodes_.end() - static_cast<std::ptrdiff_t>(count), count,
                              elements);
    open_.pop_back();
    open_nodes_.resize(open_nodes_.size() - count);
    return add(JsonNode(static_cast<std::uint32_t>(count), elements));
  }
  bool on_key_part(json::string_view part, std::size_t, error_code&) { return keep(part); }
  bool on_key(json::string_view rest, std::size_t, error_code&) {
    return add(JsonNode(JsonKind::text, stored(rest)));
  }
  bool on_string_part(json::string_view part, std::size_t, error_code&) { return keep(part); }
  bool on_string(json::string_view rest, std::size_t, error_code&) {
    return add(JsonNode(JsonKind::text, stored(rest)));
  }
  bool on_number_part(json::string_view part, error_code&) { return keep(part); }
  bool on_int64(std::int64_t value, json::string_view, error_code&) {
    pieces_.clear();
    return add(value < 0 ? JsonNode(value) : JsonNode(static_cast<std::uint64_t>(value)));
  }
  bool on_uint64(std::uint64_t value, json::string_view, error_code&) {
    pieces_.clear();
    return add(JsonNode(value));
  }
  bool on_double(double, json::string_view rest, error_code& ec) {
    pieces_.append(rest.data(), rest.size());
    if (pieces_.find_first_of(".eE") == std::string::npos)
      return add(JsonNode(JsonKind::long_integer, stored({})));
    // The parser's own value may be wrong in the last bit.
    const double value = to_double(pieces_);
    pieces_.clear();
    return std::isfinite(value) ? add(JsonNode(value)) : refuse(not_finite(), ec);
  }
  bool on_bool(bool value, error_code&) { return add(JsonNode(value)); }
  bool on_null(error_code&) { return add(JsonNode()); }
  // The parser's options allow no comments.
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }

  // Returns the error for a number that no double can hold. It is the value that comes next.
  Error not_finite() const {
    const bool in_object = !open_.empty() && open_.back().kind == JsonKind::object;
    std::string field = path(in_object ? open_nodes_.back().text() : std::string_view());
    return {"bad_number", field + " must be a finite number.", std::move(field)};
  }

 private:
  static constexpr std::size_t kFirstBytes = 256;
  // An object or array whose end has not come.
  struct Open {
    JsonKind kind;
    std::size_t first;  // its first node in open_nodes_
  };

  bool add(JsonNode node) {
    open_nodes_.push_back(node);
    return true;
  }
  bool open(JsonKind kind, error_code& ec) {
    if (open_.size() == kMaxDepth)
      return refuse(Error{"malformed", "Nest values at most 16 deep."}, ec);
    open_.push_back({kind, open_nodes_.size()});
    return true;
  }
  bool refuse(Error why, error_code& ec) {
    error = std::move(why);
    ec = json::error::syntax;  // stops the parser
    return false;
  }
  template <typename T>
  T* allocate(std::size_t count) {
    return static_cast<T*>(arena_->allocate(count * sizeof(T), alignof(T)));
  }

  // The parser gives a key, a string or a number in pieces if it has escapes.
  bool keep(json::string_view part) {
    pieces_.append(part.data(), part.size());
    return true;
  }
  // Returns the pieces and the rest, copied into the arena.
  std::string_view stored(json::string_view rest) {
    const std::size_t size = pieces_.size() + rest.size();
    auto* const to = allocate<char>(size);
    std::ranges::copy(rest, std::ranges::copy(pieces_, to).out);
    pieces_.clear();
    return {to, size};
  }
  static double to_double(const std::string& digits) {
    double value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    // from_chars() does not say whether a number that is out of range is too large or nearly 0.
    return read.ec == std::errc() ? value : std::strtod(digits.c_str(), nullptr);
  }

  // Returns a key that comes twice. It is refused, because one reader could use the first value and
  // another reader the last.
  static const std::string_view* repeated_key(std::span<const JsonField> fields) {
    constexpr std::size_t kFew = 16;  // comparing all pairs is faster up to this number
    if (fields.size() <= kFew) {
      for (auto one = fields.begin(); one != fields.end(); ++one) {
        for (auto other = fields.begin(); other != one; ++other) {
          if (one->key == other->key) return &one->key;
        }
      }
      return nullptr;
    }
    std::vector<const std::string_view*> keys;
    keys.reserve(fields.size());
    for (const JsonField& field : fields) keys.push_back(&field.key);
    const auto less = [](const auto* a, const auto* b) { return *a < *b; };
    const auto same = [](const auto* a, const auto* b) { return *a == *b; };
    std::ranges::sort(keys, less);
    const auto found = std::ranges::adjacent_find(keys, same);
    return found == keys.end() ? nullptr : *found;
  }

  // Returns the path of a value in the innermost open object (the one with this key) or array (its
  // next element).
  std::string path(std::string_view key) const {
    std::string out;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const bool is_last = i + 1 == open_.size();
      const std::size_t end = is_last ? open_nodes_.size() : open_[i + 1].first;
      if (open_[i].kind == JsonKind::array) {
        out += '[' + std::to_string(end - open_[i].first) + ']';
      } else {
        if (!out.empty()) out += '.';
        out += is_last ? key : open_nodes_[end - 1].text();
      }
    }
    return out;
  }

  std::unique_ptr<std::pmr::monotonic_buffer_resource> arena_;
  std::vector<Open> open_;
  // The elements of open arrays, and the keys and values of open objects.
  std::vector<JsonNode> open_nodes_;
  std::string pieces_;  // the first pieces of a key, string or number
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
  json::basic_parser<TreeBuilder> parser(json::parse_options{}, text.size());
  error_code ec;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), ec);
  TreeBuilder& builder = parser.handler();
  if (builder.error) return *std::move(builder.error);
  if (ec == json::error::exponent_overflow) return builder.not_finite();
  if (ec || read < text.size()) {
    return Error{"malformed",
                 "Send valid JSON: it breaks off at byte " + std::to_string(read + 1) + "."};
  }
  Json tree = builder.tree();
  if (!tree.root().is(JsonKind::object)) return Error{"malformed", "Send one JSON object."};
  return tree;
}

void append_json(std::string& out, const JsonNode& json) {
  switch (json.kind()) {
    case JsonKind::null:
      out += "null";
      return;
    case JsonKind::boolean:
      out += json.boolean() ? "true" : "false";
      return;
    case JsonKind::natural:
      return append_unsigned(out, json.natural());
    case JsonKind::negative:
      return append_integer(out, json.negative());
    case JsonKind::long_integer:
      out += json.text();
      return;
    case JsonKind::number:
      return append_float(out, json.number());
    case JsonKind::text:
      return append_string(out, json.text());
    case JsonKind::array:
      return append_list(out, json.elements(),
                         [&](const JsonNode& element) { append_json(out, element); });
    case JsonKind::object: {
      out += '{';
      bool first = true;
      for (const auto& [key, value] : json.fields()) {
        if (!first) out += ',';
        first = false;
        append_string(out, key);
        out += ':';
        append_json(out, value);
      }
      out += '}';
    }
  }
}

Value Value::find(std::string_view key) const {
  if (json_ == nullptr || !json_->is(JsonKind::object)) return {nullptr, this, key, 0};
  const auto found = std::ranges::find(json_->fields(), key, &JsonField::key);
  return {found == json_->fields().end() ? nullptr : &found->value, this, key, 0};
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
  if (!json_->is(JsonKind::object)) bad_field("an object");
  return json_->is(JsonKind::object);
}

std::optional<std::string_view> Value::string() const {
  if (json_ == nullptr) return std::nullopt;
  if (json_->is(JsonKind::text)) return json_->text();
  bad_field("a string");
  return std::nullopt;
}

std::string Value::as_text(std::size_t limit) const {
  const auto text = string();
  if (!text) return {};
  if (text->size() <= limit || characters(*text) <= limit) return std::string(*text);
  too_long(limit, "characters");
  return {};
}

std::string Value::as_text_bytes(std::size_t limit) const {
  const auto text = string();
  if (!text) return {};
  if (text->size() <= limit) return std::string(*text);
  too_long(limit, "bytes");
  return {};
}

std::int64_t Value::as_integer(IntegerRange range) const {
  if (json_ == nullptr) return range.low;
  std::int64_t value = 0;
  bool fits = true;
  switch (json_->kind()) {
    case JsonKind::natural:
      fits = std::in_range<std::int64_t>(json_->natural());
      if (fits) value = static_cast<std::int64_t>(json_->natural());
      break;
    case JsonKind::negative:
      value = json_->negative();
      break;
    case JsonKind::long_integer:
      fits = false;
      break;
    case JsonKind::number: {
      const double number = json_->number();
      // JavaScript writes and reads 5.0 as 5, so a number without a fraction is an integer.
      if (number != std::trunc(number)) {
        bad_field("an integer");
        return range.low;
      }
      fits = std::abs(number) <= static_cast<double>(kMaxWireInteger);
      if (fits) value = static_cast<std::int64_t>(number);
      break;
    }
    default:
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
  switch (json_->kind()) {
    case JsonKind::natural:
      return static_cast<double>(json_->natural());
    case JsonKind::negative:
      return static_cast<double>(json_->negative());
    case JsonKind::number:
      return json_->number();
    case JsonKind::long_integer:  // JavaScript writes 1e20 with all its digits
      return std::strtod(std::string(json_->text()).c_str(), nullptr);
    default:
      bad_field("a number");
      return 0;
  }
}

std::optional<double> Value::as_logged() const {
  if (json_ == nullptr || json_->is(JsonKind::null)) return std::nullopt;
  if (!json_->is(JsonKind::text)) return as_number();
  using Limits = std::numeric_limits<double>;
  const std::string_view text = json_->text();
  if (text == kNan) return Limits::quiet_NaN();
  if (text == kInfinity) return Limits::infinity();
  if (text == kMinusInfinity) return -Limits::infinity();
  bad_field(R"(a number, "NaN", "Infinity" or "-Infinity")");
  return std::nullopt;
}

bool Value::as_bool() const {
  if (json_ == nullptr) return false;
  if (json_->is(JsonKind::boolean)) return json_->boolean();
  bad_field("true or false");
  return false;
}

std::size_t Value::array_size(std::size_t limit) const {
  if (json_ == nullptr) return 0;
  if (!json_->is(JsonKind::array)) {
    bad_field("an array");
    return 0;
  }
  const std::size_t size = json_->elements().size();
  if (size <= limit) return size;
  note("too_many", "Send at most " + std::to_string(limit) + " entries in " + path() + ".");
  return 0;
}

Value Value::element(std::size_t index) const {
  return {&json_->elements()[index], this, {}, index};
}

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
