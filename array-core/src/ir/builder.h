// Builds a Kernel by hand. Values are handles with operators, statements are calls, nested blocks
// are lambdas:
//
//   Builder k("axpy");
//   const auto a = k.scalar("a", DType::float32);
//   const auto x = k.in("x", DType::float32), y = k.in("y", DType::float32);
//   const auto z = k.out("z", DType::float32);
//   k.store(z, k.read(a) * k.read(x) + k.read(y));
//   Kernel kernel = k.take();
//
// The builder does not check the kernel; verify() does. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/ir.h"

namespace arraycore::ir {

class Builder;

// An expression, used with the builder that made it.
struct Value {
  Builder* builder = nullptr;
  Id id = kNone;
  DType type = DType::int32;
};
struct ParamRef {
  Id id = kNone;
  DType type = DType::int32;
};
struct LocalRef {
  Id id = kNone;
  DType type = DType::int32;
};
struct FunctionRef {
  Id id = kNone;
  std::optional<DType> result;
};

class Builder {
 public:
  using Body = std::function<void()>;

  explicit Builder(std::string name);
  Kernel take() { return std::move(kernel_); }
  Kernel& kernel() { return kernel_; }

  // ---- parameters, in the order of the launch's arguments
  ParamRef in(std::string name, DType dtype);
  ParamRef out(std::string name, DType dtype);
  ParamRef in_out(std::string name, DType dtype);
  // Adds a raw parameter. If ndim >= 0, it has one index for each axis.
  ParamRef raw(std::string name, DType dtype, Access access = Access::read, int ndim = -1);
  ParamRef scalar(std::string name, DType dtype);

  // ---- expressions
  Value constant(DType type, double value);  // rounded to the type
  Value integer(DType type, std::int64_t value);
  Value bits(DType type, std::uint64_t bits, std::uint64_t bits_high = 0);
  Value read(ParamRef param);
  Value read(LocalRef local);
  Value read_at(ParamRef param, std::initializer_list<Value> index);
  Value read_at(LocalRef array, Value index);
  Value loop_index();
  Value loop_size();
  Value axis_index(int axis);
  Value reduce_index();
  Value shape(ParamRef param, int axis);
  Value size(ParamRef param);
  Value convert(DType to, Value value);  // returns `value` itself if it has that type
  Value bitcast(DType to, Value value);
  // Applies any operation of ir.h. The result's type follows from the operands'.
  Value apply(Op op, std::initializer_list<Value> operands);
  Value apply(Op op, const std::vector<Value>& operands);
  Value select(Value condition, Value then, Value otherwise);
  Value make_complex(Value real, Value imag);
  Value call(FunctionRef function, const std::vector<Value>& arguments);
  // Applies an operation from atomic_add to atomic_compare_exchange, and marks the parameter as
  // atomic.
  Value atomic(Op op, ParamRef param, std::initializer_list<Value> index_and_values);

  // ---- statements, appended to the block that is open
  LocalRef local(std::string name, DType type, std::uint32_t length = 0);
  LocalRef local(std::string name, Value initial);
  void set(LocalRef local, Value value);
  void set_at(LocalRef array, Value index, Value value);
  void store(ParamRef param, Value value);
  void store_at(ParamRef param, std::initializer_list<Value> index, Value value);
  void if_(Value condition, const Body& then, const Body& otherwise = nullptr);
  // Adds a loop. Without a condition it runs until leave().
  void while_(std::optional<Value> condition, const Body& body, const Body& step = nullptr);
  void do_while(const Body& body, std::optional<Value> condition, const Body& step = nullptr);
  void leave();
  void next();
  void give();
  void give(Value value);
  void evaluate(Value value);

  // Adds a function. `body` gets the arguments and must not use parameters.
  FunctionRef function(std::string name, const std::vector<DType>& arguments,
                       std::optional<DType> result,
                       const std::function<void(const std::vector<LocalRef>&)>& body);

  // Makes the kernel a reduction. Call it last in the body. `mapped` is the element's value, which
  // is combined with others. `identity` may be nullopt. `post` gets the result.
  void reduce(Value mapped, std::optional<Value> identity,
              const std::function<Value(Value, Value)>& combine,
              const std::function<void(Value)>& post);
  // Reduces several values together. `combine` gets two lists: the values so far, and those of one
  // more element. It returns the list of the new combined values.
  using Values = std::vector<Value>;
  struct Mapped {
    Value value;
    std::optional<Value> identity;
  };
  using Combine = std::function<Values(const Values&, const Values&)>;
  void reduce(const std::vector<Mapped>& mapped, const Combine& combine,
              const std::function<void(const Values&)>& post);
  // Makes the kernel a scan. `post` gets two lists: the values combined up to and including the
  // element, and the values of the element itself.
  void scan(const std::vector<Mapped>& mapped, const Combine& combine,
            const std::function<void(const Values&, const Values&)>& post);

 private:
  ParamRef add_param(std::string name, DType dtype, ParamKind kind, Access access, int ndim);
  Value add(Expr expr, const std::vector<Value>& operands = {});
  void add(Stmt stmt);
  Id block(const Body& body);
  void fold(const std::vector<Mapped>& mapped, const Combine& combine, Reduction::Gives gives,
            const std::function<void(const Values&, const Values&)>& post);

  Kernel kernel_;
  std::vector<Id> open_;  // blocks, innermost last
};

Value operator+(Value a, Value b);
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
Value operator/(Value a, Value b);
Value operator%(Value a, Value b);  // C's remainder
Value operator&(Value a, Value b);
Value operator|(Value a, Value b);
Value operator^(Value a, Value b);
Value operator<<(Value a, Value b);
Value operator>>(Value a, Value b);
Value operator<(Value a, Value b);
Value operator<=(Value a, Value b);
Value operator>(Value a, Value b);
Value operator>=(Value a, Value b);
Value operator==(Value a, Value b);
Value operator!=(Value a, Value b);
Value operator-(Value a);
Value operator!(Value a);
// The next operators convert the number to the type of the other operand.
Value operator+(Value a, double b);
Value operator-(Value a, double b);
Value operator*(Value a, double b);
Value operator*(double a, Value b);
Value operator/(Value a, double b);
Value operator<(Value a, double b);
Value operator>(Value a, double b);
Value operator==(Value a, double b);

}  // namespace arraycore::ir
