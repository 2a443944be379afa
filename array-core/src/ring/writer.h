// The issuing side of the ring: appends commands and waits for room, fences and resets.
//
//   Writer writer(control, ring, texts, base, host);
//   writer.create_buffer(1, 4096, "a");  writer.upload(1, 0, address, 4096);
//   writer.dispatch({...});  writer.read(1, 0, address, 4096);
//   const auto fence = writer.fence();  writer.wait(*fence);   // now the bytes are there
//
// One thread uses a Writer. Appending allocates nothing and takes no lock; commands become visible
// to the executor in groups of `publish_every`, at a flush and before any wait. An error of a
// command is the result of a later wait, once, and names the command. A function that appends waits
// only where the ring is full; if it then gives an error, its own command was not appended. Memory
// named by address must stay as it is until is_consumed(position()) (uploads) or the next fence
// (reads).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ring/control.h"
#include "ring/host.h"
#include "ring/state.h"

namespace arraycore::ring {

using BufferId = std::uint32_t;
using PipelineId = std::uint32_t;
using Address = std::uint32_t;  // bytes from the memory's beginning

struct Binding {
  BufferId buffer = 0;
  std::uint32_t offset = 0;  // a multiple of kBindingAlignment
  std::uint32_t bytes = 0;   // a multiple of 4, over 0
};

struct Dispatch {
  std::uint32_t tag = 0;  // the issuer's number of the operation; an error carries it
  PipelineId pipeline = 0;
  std::uint32_t x = 1, y = 1, z = 1;  // workgroups
  std::span<const Binding> bindings = {};
  std::span<const std::uint32_t> uniforms = {};
};

struct PipelineText {
  std::string_view wgsl = {};
  std::string_view label = {};
  std::uint32_t uniform_bytes = 0;  // 0: there is no binding 0
  std::uint32_t bindings = 0;
  std::uint32_t read_write_mask = 0;  // bit i: binding i is read_write, else read
};

// What the issuer calls the operation of a tag, for messages; empty: nothing.
class Operations {
 public:
  virtual ~Operations() = default;
  virtual std::string name_of(std::uint32_t tag) const = 0;
};

// What the executor's error slot held.
struct Fault {
  ErrorCode code = ErrorCode::none;
  std::uint32_t position = kNoPosition;
  Opcode opcode = Opcode::pad;
  std::uint32_t tag = 0;
};

class Writer {
 public:
  struct Options {
    std::uint32_t publish_every = 32;
    std::uint32_t wait_timeout_ms = 600'000;
    std::uint32_t reset_timeout_ms = 20'000;
  };

  // `ring` has a power of two of words. `texts` holds labels and shader texts on their way. Both
  // lie in the memory that begins at `base` (null: addresses are pointers, as in WebAssembly).
  Writer(ControlBlock& control, std::span<std::uint32_t> ring, std::span<std::byte> texts,
         const std::byte* base, Host& host, Options options);
  Writer(ControlBlock& control, std::span<std::uint32_t> ring, std::span<std::byte> texts,
         const std::byte* base, Host& host)
      : Writer(control, ring, texts, base, host, Options{}) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Errors name their operations from now on: that of the command, else the newest dispatched.
  void name_operations(const Operations& operations) { operations_ = &operations; }

  Status create_buffer(BufferId id, std::uint32_t bytes, std::string_view label);
  Status destroy_buffer(BufferId id);
  // `offset` is a multiple of 4. Bytes up to the next multiple of 4 behind the end become 0.
  Status upload(BufferId id, std::uint32_t offset, Address from, std::uint32_t bytes);
  // The bytes travel in the ring. REQUIRES: at most max_inline_bytes().
  Status upload_inline(BufferId id, std::uint32_t offset, std::span<const std::byte> bytes);
  // Offsets and `bytes` are multiples of 4; source and target differ.
  Status copy(BufferId source, std::uint32_t source_offset, BufferId target,
              std::uint32_t target_offset, std::uint32_t bytes);
  Status fill(BufferId id, std::uint32_t offset, std::uint32_t bytes, std::uint32_t value);
  Status create_pipeline(PipelineId id, const PipelineText& text);
  Status destroy_pipeline(PipelineId id);
  Status dispatch(const Dispatch& dispatch);
  Status read(BufferId id, std::uint32_t offset, Address to, std::uint32_t bytes);
  // Commands as tap() kept them, from word `from` on, a command's first; `from` says afterwards how
  // far it came, up to the end or an error.
  Status append_block(std::span<const std::uint32_t> commands, std::size_t& from);
  // Keeps a copy of every command that can be issued again as it is (dispatch, copy, fill,
  // upload_inline) from now on; null: no more.
  void tap(std::vector<std::uint32_t>* kept) { tap_ = kept; }
  Status timestamp_begin();
  Status timestamp_end(Address to);
  // Each dispatch from now on, up to `number` of them, leaves kTraceWords at `to`, in their order:
  // its position and tag, the 64-bit nanoseconds of its begin and end. They are there once a later
  // fence is reached. 0 ends it.
  Status trace(Address to, std::uint32_t number);
  Status label(std::string_view text);

  // Issues a fence and gives its number. wait() returns once everything before it is done.
  Result<std::uint32_t> fence();
  Status wait(std::uint32_t fence);
  Status wait(std::uint32_t fence, std::uint32_t timeout_ms);
  // Makes everything so far visible to the executor; never waits.
  void flush();
  // Drops everything, opens the device again and forgets errors. All objects are gone afterwards.
  // Where the executor is gone the host is asked for another one first.
  Status reset();
  // Nothing may be issued afterwards; executors and their owners leave the control block alone.
  Status close();

  // The end of the newest command, in words since the beginning.
  std::uint32_t position() const { return machine_.head; }
  // The executor has taken everything before `position`: uploaded memory may be reused.
  bool is_consumed(std::uint32_t position);
  std::uint32_t max_inline_bytes() const { return capacity_; }  // a quarter of the ring
  Address address_of(const void* pointer) const;
  const Fault& last_fault() const { return fault_; }
  // As if so many words had gone by. REQUIRES: nothing is in the ring.
  void skip_to_for_test(std::uint32_t position) {
    machine_.head = consumed_ = position;
    control_[Word::written] = control_[Word::consumed] = position;
  }

 private:
  std::uint32_t* begin(Opcode opcode, std::uint32_t words);
  Status commit(std::uint32_t words);
  Status append(Opcode opcode, std::initializer_list<std::uint32_t> operands);
  Status reserve_texts(std::size_t bytes);
  Address keep_text(std::string_view text);
  Outcome run(Goal goal, std::uint32_t target, std::uint32_t timeout_ms);
  Error failure(Outcome outcome);
  Error reason(Outcome outcome);
  Error take_error();

  ControlBlock& control_;
  SharedWords words_;
  std::uint32_t* ring_;
  std::uint32_t capacity_;
  std::span<std::byte> texts_;
  const std::byte* base_;
  Host& host_;
  Options options_;
  Issuer machine_;
  Outcome refused_ = Outcome::done;  // why begin() gave nothing
  std::uint32_t consumed_ = 0;       // as last seen
  std::uint32_t unpublished_ = 0;    // commands
  std::size_t texts_used_ = 0;
  std::uint32_t fences_ = 0;
  std::uint32_t resets_ = 0;
  Fault fault_;
  const Operations* operations_ = nullptr;
  std::vector<std::uint32_t>* tap_ = nullptr;
  std::uint32_t newest_tag_ = 0;  // of the newest dispatch
  bool gone_ = false;             // the executor did not answer any more
};

}  // namespace arraycore::ring
