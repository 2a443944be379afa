// The issuing side of the ring: appends commands, and waits for room, fences and resets.
//
//   Writer writer(control, ring, texts, base, host);
//   writer.create_buffer(1, 4096, "a");  writer.upload(1, 0, address, 4096);
//   writer.dispatch({...});  writer.read(1, 0, address, 4096);
//   const auto fence = writer.fence();  writer.wait(*fence);   // now the bytes are there
//
// One thread uses a Writer. Appending allocates nothing and takes no lock. The executor sees
// commands in groups of `publish_every`, after a flush and before any wait. A command's error is
// the result of a later wait; it is reported once and names the command. A function that appends
// waits only when the ring is full; if that fails, its own command was not appended. Memory given
// by its address must stay unchanged until is_consumed(position()) for uploads, or until the next
// fence for reads.
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
using Address = std::uint32_t;  // bytes from the beginning of the memory

struct Binding {
  BufferId buffer = 0;
  std::uint32_t offset = 0;  // a multiple of kBindingAlignment
  std::uint32_t bytes = 0;   // a multiple of 4, over 0
};

struct Dispatch {
  std::uint32_t tag = 0;  // the issuer's number of the operation; errors carry it
  PipelineId pipeline = 0;
  std::uint32_t x = 1, y = 1, z = 1;  // workgroups
  std::span<const Binding> bindings = {};
  std::span<const std::uint32_t> uniforms = {};
};

struct PipelineText {
  std::string_view text = {};
  std::string_view label = {};
  std::uint32_t uniform_bytes = 0;  // 0: there is no binding 0
  std::uint32_t bindings = 0;
  std::uint32_t read_write_mask = 0;  // bit i: binding i is read_write, else read
};

// Returns the name of the operation that has a tag, for messages. The name is empty if the
// operation has none.
class Operations {
 public:
  virtual ~Operations() = default;
  virtual std::string name_of(std::uint32_t tag) const = 0;
};

// The content of the executor's error slot.
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

  // The number of words of `ring` is a power of two. `texts` holds labels and shader texts until
  // the executor has taken them. Both are in the memory that begins at `base` (nullptr: addresses
  // are pointers, as in WebAssembly).
  Writer(ControlBlock& control, std::span<std::uint32_t> ring, std::span<std::byte> texts,
         const std::byte* base, Host& host, Options options);
  Writer(ControlBlock& control, std::span<std::uint32_t> ring, std::span<std::byte> texts,
         const std::byte* base, Host& host)
      : Writer(control, ring, texts, base, host, Options{}) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Lets later errors name an operation: that of the command that failed or, if the error belongs
  // to no command, that of the newest dispatch.
  void name_operations(const Operations& operations) { operations_ = &operations; }

  Status create_buffer(BufferId id, std::uint32_t bytes, std::string_view label);
  Status destroy_buffer(BufferId id);
  // Uploads bytes to a buffer. `offset` is a multiple of 4. The bytes from the end of the range up
  // to the next multiple of 4 become 0.
  Status upload(BufferId id, std::uint32_t offset, Address from, std::uint32_t bytes);
  // Uploads bytes that are sent in the ring itself. REQUIRES: at most max_inline_bytes() bytes.
  Status upload_inline(BufferId id, std::uint32_t offset, std::span<const std::byte> bytes);
  // Copies bytes between different buffers. Offsets and `bytes` are multiples of 4.
  Status copy(BufferId source, std::uint32_t source_offset, BufferId target,
              std::uint32_t target_offset, std::uint32_t bytes);
  Status fill(BufferId id, std::uint32_t offset, std::uint32_t bytes, std::uint32_t value);
  Status create_pipeline(PipelineId id, const PipelineText& text);
  Status destroy_pipeline(PipelineId id);
  Status dispatch(const Dispatch& dispatch);
  Status read(BufferId id, std::uint32_t offset, Address to, std::uint32_t bytes);
  // Appends commands that tap() kept, beginning at word `from`, which is the first word of a
  // command. Afterwards `from` is the position of the command that failed, or the end.
  Status append_block(std::span<const std::uint32_t> commands, std::size_t& from);
  // From now on, keeps a copy of every command that can be issued again unchanged (dispatch, copy,
  // fill, upload_inline). nullptr stops this.
  void tap(std::vector<std::uint32_t>* kept) { tap_ = kept; }
  Status timestamp_begin();
  Status timestamp_end(Address to);
  // Each of the next `number` dispatches writes a record of kTraceWords words, the first one at
  // `to`: its position and tag, and the times of its start and end in nanoseconds, 64 bits each.
  // The records are complete when a later fence is done. If `number` is 0, the trace ends.
  Status trace(Address to, std::uint32_t number);
  Status label(std::string_view text);

  // Issues a fence and returns its number. wait() returns once everything before it is done.
  Result<std::uint32_t> fence();
  Status wait(std::uint32_t fence);
  Status wait(std::uint32_t fence, std::uint32_t timeout_ms);
  // Makes all commands so far visible to the executor. Does not wait.
  void flush();
  // Drops all commands, opens the device again and forgets errors. All objects are gone afterwards.
  // If the executor has ended, the host is asked for another one first.
  Status reset();
  // Ends the use of the ring. Afterwards nothing may be issued; executors and their owners leave
  // the control block alone.
  Status close();

  // Returns the position after the newest command, in words since the beginning.
  std::uint32_t position() const { return machine_.head; }
  // Returns whether the executor has taken everything before `position`, so that uploaded memory
  // may be reused.
  bool is_consumed(std::uint32_t position);
  std::uint32_t max_inline_bytes() const { return capacity_; }  // a quarter of the ring
  Address address_of(const void* pointer) const;
  const Fault& last_fault() const { return fault_; }
  // Sets the position as if this many words were written. REQUIRES: the ring is empty.
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
  Outcome refused_ = Outcome::done;  // why begin() returned null
  std::uint32_t consumed_ = 0;       // as last read
  std::uint32_t unpublished_ = 0;    // commands that are not published yet
  std::size_t texts_used_ = 0;
  std::uint32_t fences_ = 0;
  std::uint32_t resets_ = 0;
  Fault fault_;
  const Operations* operations_ = nullptr;
  std::vector<std::uint32_t>* tap_ = nullptr;
  std::uint32_t newest_tag_ = 0;  // of the newest dispatch
  bool gone_ = false;             // the executor stopped answering
};

}  // namespace arraycore::ring
