// Runs a Program over blocks of lanes. A Machine has the registers and the state of a run. It is
// kept from launch to launch, so that only the first launch allocates. Everything but the class
// itself is internal to cpu/; one thread.
//
// An element may read and write one storage through different arguments. Each block is read before
// it is written, so callers pass overlapping storage only if both views are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "cpu/program.h"
#include "ir/interpret.h"
#include "lower/loop.h"

namespace arraycore::cpu {

struct Mask {
  bool lanes[kLanes] = {};  // NOLINT(*-avoid-c-arrays)
  int count = 0;            // the number of lanes that are set
};

class Machine {
 public:
  // `program` must outlive the machine, at the same address.
  explicit Machine(const Program& program);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Status run(const ir::Launch& launch);

  // Runs a launch in parts, which several machines of one program may compute at the same time.
  // Each machine begins the launch and then computes some of the units(), which are independent of
  // each other. A machine may be used on any one thread, and it allocates nothing. `launch` must
  // exist until the last part is done.
  Status begin(const ir::Launch& launch);
  std::int64_t units() const;  // the number of blocks of lanes, or of rows of a reduction
  void compute(std::int64_t first, std::int64_t count);
  // Returns the approximate number of operations on elements in a unit.
  std::int64_t unit_work() const;

 private:
  void elementwise(std::int64_t first, std::int64_t end);
  const View& view(ir::Id param) const { return launch_->arguments[param].view; }
  void broadcast(Register to, const ir::Scalar& value);
  void integers(Register to, std::int64_t value);

  // ---- blocks of lanes, and their elements (machine_lanes.cc)
  void begin_block(int n);
  // Begins a block and loads the elements that its lanes read. With `along_outer` the lanes have
  // consecutive numbers on the outer axes, from `outer` on, and all have number `inner` on the
  // inner axes. Otherwise the numbers on the inner axes are consecutive, from `inner` on.
  void enter(std::int64_t outer, std::int64_t inner, bool along_outer, bool post);
  void number_rows(std::int64_t first);
  void coordinates(ir::Id axis, Register to, std::int64_t outer, std::int64_t inner,
                   bool along_outer);
  void put_integer(Register to, int lane, std::int64_t value) {
    const auto small = static_cast<std::int32_t>(value);
    std::memcpy(reg_[to] + lane * 4, &small, 4);
  }
  void zero_locals(bool post);
  void load(ir::Id param, const lower::Walk& walk, std::size_t v, std::int64_t fixed,
            std::int64_t first);
  // Stores the written parameters of the block that enter() began. An array that serves as a
  // register itself needs no store.
  void save(std::int64_t outer, std::int64_t inner, bool along_outer);

  // ---- reductions (machine_reduce.cc)
  //
  // The accumulators' values for up to kLanes lanes: first the values of the first accumulator for
  // all lanes, then those of the next one.
  class Values {
   public:
    void set(const std::vector<std::size_t>& sizes) {
      places_.clear();
      sizes_ = &sizes;
      std::size_t bytes = 0;
      for (const std::size_t size : sizes) {
        places_.push_back(bytes);
        bytes += size * kLanes;
      }
      bytes_.resize(bytes);
    }
    std::byte* at(std::size_t v, int lane = 0) {
      return bytes_.data() + places_[v] + static_cast<std::size_t>(lane) * (*sizes_)[v];
    }
    void swap(Values& other) { bytes_.swap(other.bytes_); }

   private:
    const std::vector<std::size_t>* sizes_ = nullptr;
    std::vector<std::size_t> places_;
    std::vector<std::byte> bytes_;
  };
  // A partial result over 2^k elements. Two results over equally many elements are combined.
  struct Partial {
    std::int64_t weight = 0;
    Values values;
  };
  void reduce(std::int64_t first, std::int64_t end);
  Error no_identity() const;
  void make_room_for_partials();
  bool outer_is_inner() const;
  bool row_by_row(std::int64_t rows, std::int64_t length) const;
  void push(int n);
  void finish(Values& to, int n);
  // Combines lanes [a_first, a_first + n) of `a` with lanes [b_first, b_first + n) of `b`, and
  // stores the results into `to`.
  void combine(Values& a, int a_first, Values& b, int b_first, Values& to, int to_first, int n);
  void halve(Values& values, int n);
  void take(Values& to, int to_first, Values& from, int from_first, int n);
  void hold(ir::Id ir::Accumulator::* local, Values& from, int n);
  void map();
  void reduce_row(std::int64_t row, std::int64_t length, int to_lane);
  void reduce_across(std::int64_t first, int n, std::int64_t length);
  void scan(std::int64_t rows, std::int64_t length);
  void scan_row(std::int64_t row, std::int64_t length);
  void scan_across(std::int64_t first, int n, std::int64_t length);
  void store_running(std::int64_t outer, std::int64_t inner, bool along_outer, int n);

  // ---- statements and steps (machine_steps.cc)
  void run(const std::vector<Node>& nodes);
  void run(const Node& node);
  bool full() const { return active_.count == n_; }
  void move(std::byte* to, const std::byte* from, std::size_t size);
  Mask where(const Mask& mask, const bool* keep, bool negated) const;
  void remove(Mask& mask, const Mask& gone) const { mask = where(mask, gone.lanes, true); }
  const bool* bools(Register r) const { return reinterpret_cast<const bool*>(reg_[r]); }
  bool direct(const Node& node);
  void assign_at(const Node& node, std::size_t size);
  void branch(const Node& node);
  void loop(const Node& node);
  void steps(const std::vector<Step>& list);
  void step(const Step& s);
  void array_read(const Step& s, std::size_t size);
  void lazy(const Step& s, std::size_t size);
  void call(const Step& s);

  // ---- raw parameters (machine_raw.cc)
  void find_steps();
  // Sets `places_` to the offset of each lane's element, in bytes from the start of the storage.
  // Returns false if the parameter has no elements.
  bool find_places(ir::Id param, const std::vector<Register>& index);
  std::byte* base(ir::Id param) const { return launch_->arguments[param].base; }
  void raw_read(const Step& s, std::size_t size);
  void store_at(const Node& node, std::size_t size);
  void atomic(const Step& s);

  const Program& p_;
  const ir::Kernel& k_;
  const ir::Launch* launch_ = nullptr;    // the launch that is running
  std::unique_ptr<std::byte[]> storage_;  // NOLINT(*-avoid-c-arrays)
  std::vector<std::byte*> own_;           // each register's own memory
  std::vector<std::byte*> reg_;  // the memory of each register now: its own, or an argument's array
  std::vector<const View*> views_;
  std::vector<std::optional<std::int64_t>>
      steps_;                           // the bytes from one element of a raw parameter to the next
  std::ptrdiff_t places_[kLanes] = {};  // NOLINT(*-avoid-c-arrays)
  lower::Walks walks_;
  std::vector<Partial> partials_;  // the first `depth_` are in use; the others keep their memory
  std::size_t depth_ = 0;
  std::vector<std::size_t> sizes_;  // the sizes of the accumulators' types
  Values totals_;
  Values mapped_;
  Values rest_;
  int n_ = 0;                // the lanes of this block
  Mask active_;              // lanes that run
  Mask alive_;               // lanes that have not returned
  Mask* looping_ = nullptr;  // lanes that are still in the innermost loop
};

}  // namespace arraycore::cpu
