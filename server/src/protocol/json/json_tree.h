// A parsed JSON text as a tree. It keeps the order of an object's keys, and all digits of an
// integer. Its nodes and texts lie in one arena, because allocating each would take most of the
// time of parsing. Pure; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>
#include <type_traits>

namespace hyperflock::protocol {

enum class JsonKind : std::uint8_t {
  null,
  boolean,
  natural,       // an integer from 0 to 2^64 - 1
  negative,      // an integer from -2^63 to -1
  long_integer,  // an integer that needs more than 64 bits
  number,        // with a fraction or an exponent; finite
  text,
  array,
  object,
};

struct JsonField;

// A value of the tree. It is valid as long as the tree.
class JsonNode {
 public:
  JsonNode() = default;
  explicit JsonNode(bool value) : kind_(JsonKind::boolean), boolean_(value) {}
  explicit JsonNode(std::uint64_t value) : kind_(JsonKind::natural), natural_(value) {}
  explicit JsonNode(std::int64_t value) : kind_(JsonKind::negative), negative_(value) {}
  explicit JsonNode(double value) : kind_(JsonKind::number), number_(value) {}
  JsonNode(JsonKind kind, std::string_view text)
      : kind_(kind), size_(static_cast<std::uint32_t>(text.size())), text_(text.data()) {}
  JsonNode(std::uint32_t size, const JsonNode* elements)
      : kind_(JsonKind::array), size_(size), elements_(elements) {}
  JsonNode(std::uint32_t size, const JsonField* fields)
      : kind_(JsonKind::object), size_(size), fields_(fields) {}

  JsonKind kind() const { return kind_; }
  bool is(JsonKind kind) const { return kind_ == kind; }

  // Each function below requires the kind that it names.
  bool boolean() const { return boolean_; }
  std::uint64_t natural() const { return natural_; }
  std::int64_t negative() const { return negative_; }
  double number() const { return number_; }
  // Returns a text, or the digits of a long integer.
  std::string_view text() const { return {text_, size_}; }
  std::span<const JsonNode> elements() const { return {elements_, size_}; }
  std::span<const JsonField> fields() const;

 private:
  JsonKind kind_ = JsonKind::null;
  std::uint32_t size_ = 0;  // bytes of a text; elements; fields
  union {
    bool boolean_;
    std::uint64_t natural_ = 0;
    std::int64_t negative_;
    double number_;
    const char* text_;
    const JsonNode* elements_;
    const JsonField* fields_;
  };
};

struct JsonField {
  std::string_view key;
  JsonNode value;
};

inline std::span<const JsonField> JsonNode::fields() const { return {fields_, size_}; }

// The arena frees nodes without destroying them.
static_assert(std::is_trivially_destructible_v<JsonField>);

class Json {
 public:
  Json(std::unique_ptr<std::pmr::monotonic_buffer_resource> arena, JsonNode root)
      : arena_(std::move(arena)), root_(root) {}

  const JsonNode& root() const { return root_; }

 private:
  std::unique_ptr<std::pmr::monotonic_buffer_resource> arena_;
  JsonNode root_;
};

}  // namespace hyperflock::protocol
