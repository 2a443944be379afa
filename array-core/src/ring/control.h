// The control block as both sides in C++ use it: sequentially consistent words at fixed places.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "ring/commands.h"

namespace arraycore::ring {

// The control block is in the module's shared memory. Executors get its address. Any thread.
struct alignas(64) ControlBlock {
  std::array<std::atomic<std::uint32_t>, kControlWords> words{};

  std::atomic<std::uint32_t>& operator[](Word word) { return words[at(word)]; }
  const std::atomic<std::uint32_t>& operator[](Word word) const { return words[at(word)]; }
};
static_assert(sizeof(std::atomic<std::uint32_t>) == 4);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

// Gives the state machine of state.h access to the shared words. The model (model.h) replaces this
// class by one of its own.
class SharedWords {
 public:
  explicit SharedWords(ControlBlock& block) : block_(block) {}
  std::uint32_t load(Word word) const { return block_[word].load(); }
  void store(Word word, std::uint32_t value) { block_[word].store(value); }
  void add(Word word, std::uint32_t value) { block_[word].fetch_add(value); }
  std::uint32_t exchange(Word word, std::uint32_t value) { return block_[word].exchange(value); }
  // Sets `word` to 0 if it still has the value `expected`.
  void clear_if(Word word, std::uint32_t expected) {
    block_[word].compare_exchange_strong(expected, 0);
  }

 private:
  ControlBlock& block_;
};

}  // namespace arraycore::ring
