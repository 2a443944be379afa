// Tests parameter lists, and the dtype of each type letter.
#include "dialect/test_support.h"

namespace arraycore::dialect {
namespace {

TEST(Params, ReadsTypesLettersAndRaw) {
  const auto params = parse_params(" T x,raw S y,\n float32 z, raw bool  w_1 ");
  ASSERT_TRUE(params.ok());
  EXPECT_EQ(*params, (std::vector<ParamSpec>{{"x", "T", std::nullopt, false},
                                             {"y", "S", std::nullopt, true},
                                             {"z", "", DType::float32, false},
                                             {"w_1", "", DType::boolean, true}}));
  EXPECT_TRUE(parse_params("")->empty());
  EXPECT_TRUE(parse_params(" \n ")->empty());
  EXPECT_EQ(parse_params("float x")->at(0).dtype, DType::float64);  // as in NumPy
}

TEST(Params, RefusesWhatIsNone) {
  const auto refused = [](const char* text) {
    const auto params = parse_params(text);
    return params ? "read" : params.error().message;
  };
  EXPECT_EQ(refused("T"), "kernel parameters 'T': parameter 1 is not '[raw] type name'");
  EXPECT_EQ(refused("T x,"), "kernel parameters 'T x,': parameter 2 is not '[raw] type name'");
  EXPECT_EQ(refused("T x, T x"), "kernel parameters 'T x, T x': the name 'x' occurs twice");
  EXPECT_EQ(refused("T i"), "kernel parameters 'T i': the name 'i' is the loop's own");
  EXPECT_EQ(refused("foo x"),
            "kernel parameters 'foo x': 'foo' is neither a dtype nor a type letter");
  EXPECT_EQ(refused("T 2x"), "kernel parameters 'T 2x': '2x' is not a name");
}

std::string bind_error(const char* in, const char* out, const Dtypes& dtypes) {
  const auto types = bound(parse_params(in).value(), parse_params(out).value(), dtypes);
  if (types) return "bound";
  EXPECT_EQ(types.error().kind, ErrorKind::type);
  return types.error().message;
}

TEST(Binding, ArraysBindLettersAndScalarsFollow) {
  const auto types =
      bound(parse_params("T x, T s, raw S t, int32 n").value(), parse_params("T y").value(),
            {kF16, std::nullopt, kI64, std::nullopt, kF16});
  ASSERT_TRUE(types.ok());
  EXPECT_EQ(types->letters, (std::map<std::string, DType, std::less<>>{{"T", kF16}, {"S", kI64}}));
  EXPECT_EQ(types->in[1], (BoundParam{kF16, ir::ParamKind::scalar}));
  EXPECT_EQ(types->in[2], (BoundParam{kI64, ir::ParamKind::raw}));
  EXPECT_EQ(types->in[3], (BoundParam{kI32, ir::ParamKind::scalar}));
  EXPECT_EQ(types->out[0], (BoundParam{kF16, ir::ParamKind::elementwise}));
}

TEST(Binding, AbsentOutputsTakeTheInputsType) {
  const std::vector<ArgumentType> in{ArgumentType::array(kF64)};
  const std::vector<ArgumentType> out{ArgumentType::absent()};
  const auto types =
      bind_types("k", parse_params("T x").value(), parse_params("T y").value(), in, out);
  ASSERT_TRUE(types.ok());
  EXPECT_EQ(types->out[0].dtype, kF64);
  const auto raw =
      bind_types("k", parse_params("T x").value(), parse_params("raw T y").value(), in, out);
  ASSERT_FALSE(raw.ok());
  EXPECT_EQ(raw.error().message,
            "kernel 'k': output 'y' is raw: its shape is unknown, so pass an array");
}

TEST(Binding, RefusesMismatches) {
  EXPECT_EQ(bind_error("T x, T z", "T y", {kF32, kF64, kF32}),
            "kernel 'k': argument 'z' is float64, not float32, which 'T' stands for in this call");
  EXPECT_EQ(bind_error("int32 x", "T y", {kI64, kF32}),
            "kernel 'k': argument 'x' is int64, not int32");
  EXPECT_EQ(bind_error("T x", "S y", {std::nullopt, kF32}),
            "kernel 'k': no array argument tells which type 'T' of 'x' is");
  EXPECT_EQ(bind_error("raw T x", "T y", {std::nullopt, kF32}),
            "kernel 'k': input 'x' is raw and must be an array");
  EXPECT_EQ(bind_error("T x", "T y", {kF32, std::nullopt}),
            "kernel 'k': output 'y' must be an array");
  const auto few = bind_types("k", parse_params("T x").value(), {}, {}, {});
  ASSERT_FALSE(few.ok());
  EXPECT_EQ(few.error().message, "kernel 'k': takes 1 inputs and 0 outputs, not 0 and 0");
}

}  // namespace
}  // namespace arraycore::dialect
