// Defines how fields of each kind are read and written. The generated fields.h visits the fields of
// a struct with a Reader or a Writer and gives the kind of each field:
//
//   codec.required("seq"_key, m.seq, Integer{1});
//   codec.defaulted("points"_key, m.points, List{Array{}, kMaxPoints});
//
// After a problem a Reader continues with default values, so the caller checks the Problem at the
// end. Used only by the codec. Pure; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/json/json_reader.h"
#include "protocol/json/json_writer.h"
#include "protocol/schema/name_table.h"

namespace hyperflock::protocol {

// True if M is T or const T, so that one function can visit the fields of a struct both for reading
// and for writing.
template <typename M, typename T>
concept Is = std::same_as<std::remove_const_t<M>, T>;

template <typename Message>
struct Tag;  // kName: the value of the field that says which member of a union it is
template <typename Struct>
struct Tuple;  // kSize, and kForm: a description of the array for people

// ---- keys

// A field's name with the punctuation around it: `,"name":`. The struct has the size of two
// pointers, so it is passed in registers.
struct Key {
  std::string_view text;
  constexpr std::string_view name() const { return text.substr(2, text.size() - 4); }
};

template <std::size_t size>
struct KeyText {
  consteval KeyText(const char (&name)[size]) {  // NOLINT(google-explicit-constructor)
    text[0] = ',';
    text[1] = '"';
    std::copy_n(name, size - 1, text.begin() + 2);
    text[size + 1] = '"';
    text[size + 2] = ':';
  }
  std::array<char, size + 3> text{};
};

template <KeyText key>
consteval Key operator""_key() {
  return {std::string_view(key.text.data(), key.text.size())};
}

// ---- kinds

struct Integer : IntegerRange {};
struct Number {};
// A value of a series: a number, "NaN", "Infinity" or "-Infinity", or null for no value.
struct Logged {};
struct Flag {};
// A text of `least` to `most` characters.
struct Characters {
  std::size_t most = 0;
  std::size_t least = 0;
};
// A text of at most `most` bytes.
struct Bytes {
  std::size_t most = 0;
};
// A text that a function of rules.h reads and checks.
struct Checked {
  std::string (*read)(const Value&);
};
// The name of a value of an enumeration.
struct EnumName {};
// A name from a list. It is read as a string and not as an enumeration. `wanted` is the end of the
// error message.
template <std::size_t size>
struct OneOf {
  const std::array<std::string_view, size>& names;
  std::string_view wanted;
};
// The forms in which a struct is written: as an object, as an array of its fields, or as a union,
// in which one field names the member.
struct Object {};
struct Array {};
struct Tagged {
  Key field;
};
// An object that stays JSON text.
struct JsonObject {};
template <typename Kind>
struct List {
  Kind kind;
  std::size_t most = 0;
  std::size_t least = 0;
};
template <typename Kind>
List(Kind, std::size_t) -> List<Kind>;
template <typename Kind>
List(Kind, std::size_t, std::size_t) -> List<Kind>;

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// ---- reading

template <typename T>
void read(const Value& in, const Integer& kind, T& out) {
  out = static_cast<T>(in.as_integer(kind));
}
inline void read(const Value& in, Number, double& out) { out = in.as_number(); }
inline void read(const Value& in, Logged, std::optional<double>& out) { out = in.as_logged(); }
inline void read(const Value& in, Flag, bool& out) { out = in.as_bool(); }
inline void read(const Value& in, const Characters& kind, std::string& out) {
  out = in.as_text(kind.most);
  if (kind.least > 0 && out.empty() && in.present()) in.bad_field("a string that is not empty");
}
inline void read(const Value& in, const Bytes& kind, std::string& out) {
  out = in.as_text_bytes(kind.most);
}
inline void read(const Value& in, const Checked& kind, std::string& out) { out = kind.read(in); }
template <typename Enum>
void read(const Value& in, EnumName, Enum& out) {
  out = in.as_name<Enum>();
}
template <std::size_t size>
void read(const Value& in, const OneOf<size>& kind, std::string& out) {
  out = in.as_text();
  const bool known = std::find(kind.names.begin(), kind.names.end(), out) != kind.names.end();
  if (!known && in.present()) in.bad_field(kind.wanted);
}
inline void read(const Value& in, JsonObject, std::string& out) {
  if (in.require_object()) append_json(out, in.json());
}

// Reads the fields of an object.
class Reader {
 public:
  static constexpr bool kReads = true;
  explicit Reader(const Value& in) : in_(in) {}
  const Value& in() const { return in_; }

  template <typename T, typename Kind>
  void required(Key key, T& out, const Kind& kind) {
    read_into(in_[key.name()], out, kind);
  }
  template <typename T, typename Kind>
  void optional(Key key, T& out, const Kind& kind) {
    if (const Value value = in_.find(key.name()); value.present()) read_into(value, out, kind);
  }
  template <typename T, typename Kind>
  void defaulted(Key key, T& out, const Kind& kind) {
    optional(key, out, kind);
  }
  template <typename T, typename Kind, typename Default>
  void defaulted(Key key, T& out, const Kind& kind, const Default& value) {
    out = value;
    optional(key, out, kind);
  }
  // Reads the fields of `part` from the same object.
  template <typename Part>
  void spread(Part& part) {
    visit_fields(*this, part);
  }
  // Reads the fields of an inner object that has no struct of its own.
  template <typename Visit>
  void object(Key key, Visit visit) {
    visit_object(in_[key.name()], visit);
  }
  template <typename Visit>
  void defaulted_object(Key key, Visit visit) {
    visit_object(in_.find(key.name()), visit);
  }

 private:
  template <typename T, typename Kind>
  static void read_into(const Value& value, T& out, const Kind& kind) {
    if constexpr (kIsOptional<T>) {
      read(value, kind, out.emplace());
    } else {
      read(value, kind, out);
    }
  }
  template <typename Visit>
  static void visit_object(const Value& value, Visit visit) {
    if (value.present() && !value.require_object()) return;
    Reader inner(value);  // an absent object sets the defaults
    visit(inner);
  }

  const Value& in_;
};

// Reads the elements of an array as the fields of a struct.
class ArrayReader {
 public:
  explicit ArrayReader(const Value& in) : in_(in) {}
  template <typename T, typename Kind>
  void required(Key, T& out, const Kind& kind) {
    read(in_.element(next_++), kind, out);
  }

 private:
  const Value& in_;
  std::size_t next_ = 0;
};

template <typename Struct>
void read(const Value& in, Object, Struct& out) {
  if (!in.require_object()) return;
  Reader reader(in);
  visit_fields(reader, out);
}
template <typename Struct>
void read(const Value& in, Array, Struct& out) {
  if (!in.json().is(JsonKind::array) || in.json().elements().size() != Tuple<Struct>::kSize)
    return in.bad_field(Tuple<Struct>::kForm);
  ArrayReader reader(in);
  visit_fields(reader, out);
}
template <typename Kind, typename T>
void read(const Value& in, const List<Kind>& kind, std::vector<T>& out) {
  out.reserve(in.array_size(kind.most));
  in.each(kind.most, [&](const Value& one) { read(one, kind.kind, out.emplace_back()); });
  if (out.size() >= kind.least || !in.present()) return;
  in.bad_field("an array of " + std::to_string(kind.least) + " to " + std::to_string(kind.most) +
               (std::is_same_v<T, double> ? " numbers" : ""));
}

// Reads the union's member with this name. Returns false if there is no such member.
template <typename... Members>
bool read_member(std::string_view name, const Value& in, std::variant<Members...>& out) {
  const auto read_if_named = [&]<typename Member>(std::in_place_type_t<Member>) {
    if (name != Tag<Member>::kName) return false;
    read(in, Object{}, out.template emplace<Member>());
    return true;
  };
  return (read_if_named(std::in_place_type<Members>) || ...);
}
template <typename... Members>
void read(const Value& in, const Tagged& kind, std::variant<Members...>& out) {
  const Value tag = in[kind.field.name()];
  if (!read_member(tag.as_text(), in, out) && tag.present())
    tag.bad_field("one of the names that the protocol lists");
}

// ---- writing

template <typename T>
void write(std::string& out, const Integer&, T value) {
  if constexpr (std::is_enum_v<T>) {
    append_integer(out, to_int(value));
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    append_unsigned(out, value);
  } else {
    append_integer(out, value);
  }
}
inline void write(std::string& out, Number, double value) { append_float(out, value); }
inline void write(std::string& out, Logged, const std::optional<double>& value) {
  append_logged(out, value);
}
inline void write(std::string& out, Flag, bool value) { out += value ? "true" : "false"; }
template <typename Kind>
void write(std::string& out, const Kind&, const std::string& value) {
  if constexpr (std::is_same_v<Kind, JsonObject>) {
    out += value;
  } else {
    append_string(out, value);
  }
}
template <typename Enum>
void write(std::string& out, EnumName, Enum value) {
  append_string(out, name_of(value));
}

// Writes the fields of an object.
class Writer {
 public:
  static constexpr bool kReads = false;
  explicit Writer(std::string& out) : out_(out) { out_ += '{'; }
  void end() { out_ += '}'; }
  // Starts a field. The caller appends its value.
  std::string& begin(Key key) {
    out_ += first_ ? key.text.substr(1) : key.text;
    first_ = false;
    return out_;
  }

  template <typename T, typename Kind>
  void required(Key key, const T& value, const Kind& kind) {
    if constexpr (kIsOptional<T>) {
      if (value) write(begin(key), kind, *value);
    } else {
      write(begin(key), kind, value);
    }
  }
  // Writes a field unless its value is empty.
  template <typename T, typename Kind>
  void optional(Key key, const T& value, const Kind& kind) {
    if constexpr (kIsOptional<T>) {
      required(key, value, kind);
    } else if (value != T{}) {
      required(key, value, kind);
    }
  }
  template <typename T, typename Kind>
  void defaulted(Key key, const T& value, const Kind& kind) {
    required(key, value, kind);
  }
  template <typename T, typename Kind, typename Default>
  void defaulted(Key key, const T& value, const Kind& kind, const Default&) {
    required(key, value, kind);
  }
  template <typename Part>
  void spread(const Part& part) {
    visit_fields(*this, part);
  }
  template <typename Visit>
  void object(Key key, Visit visit) {
    Writer inner(begin(key));
    visit(inner);
    inner.end();
  }
  template <typename Visit>
  void defaulted_object(Key key, Visit visit) {
    object(key, visit);
  }

 private:
  std::string& out_;
  bool first_ = true;
};

// Writes the fields of a struct as the elements of an array.
class ArrayWriter {
 public:
  explicit ArrayWriter(std::string& out) : out_(out) {}
  template <typename T, typename Kind>
  void required(Key, const T& value, const Kind& kind) {
    out_ += first_ ? '[' : ',';
    first_ = false;
    write(out_, kind, value);
  }

 private:
  std::string& out_;
  bool first_ = true;
};

template <typename Struct>
void write(std::string& out, Object, const Struct& value) {
  Writer writer(out);
  visit_fields(writer, value);
  writer.end();
}
template <typename Struct>
void write(std::string& out, Array, const Struct& value) {
  ArrayWriter writer(out);
  visit_fields(writer, value);
  out += ']';
}
template <typename Kind, typename T>
void write(std::string& out, const List<Kind>& kind, const std::vector<T>& values) {
  append_list(out, values, [&](const T& one) { write(out, kind.kind, one); });
}
// Writes the member of a union, with its name in the field that identifies the member.
template <typename... Members>
void write(std::string& out, const Tagged& kind, const std::variant<Members...>& value) {
  const auto write_member = [&]<typename Member>(const Member& member) {
    Writer writer(out);
    append_string(writer.begin(kind.field), Tag<Member>::kName);
    visit_fields(writer, member);
    writer.end();
  };
  std::visit(write_member, value);
}

}  // namespace hyperflock::protocol
