#include "thread_pool/thread_pool.h"

#include <string>

#if !defined(__wasm__)
#include <chrono>
#include <thread>
#endif

namespace arraycore {
namespace {

// Helpers check the task this often even without a wake-up, so that a lost wake-up cannot stop
// them.
constexpr int kSliceMs = 500;
constexpr int kInsideSliceMs = 20;

// Sleeps while the word is `value`, for at most `ms`. Only a thread that may block can call it.
void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t value, int ms) {
#if defined(__wasm__)
  static_assert(sizeof(word) == sizeof(int));
  __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(&word), static_cast<int>(value),
                                      ms * 1'000'000LL);
#else
  // A native process has helpers in tests only, so polling is good enough.
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  while (word.load() == value && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::microseconds(20));
#endif
}

void wake(std::atomic<std::uint32_t>& word) {
#if defined(__wasm__)
  __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&word), ~0U);
#else
  static_cast<void>(word);
#endif
}

}  // namespace

bool ThreadPool::run(Part part, void* task, std::int64_t parts, int threads) {
  if (this->threads() == 1 || threads == 1 || parts <= 1) {
    for (std::int64_t i = 0; i < parts; ++i) part(task, i, 0);
    return true;
  }
  part_ = part;
  task_ = task;
  parts_ = static_cast<std::uint32_t>(parts);
  threads_ = threads;
  next_.store(0, std::memory_order_relaxed);
  turn_.fetch_add(1);
  wake(turn_);
  take_parts(0);
  turn_.fetch_add(1);
  for (int waited = 0; waited < kPatienceMs; waited += kInsideSliceMs) {
    const std::uint32_t inside = inside_.load();
    if (inside == 0) return true;
    sleep_on(inside_, inside, kInsideSliceMs);
  }
  if (inside_.load() == 0) return true;
  helpers_.store(0, std::memory_order_release);
  return false;
}

Error ThreadPool::lost() {
  return {ErrorKind::device, "thread_lost",
          "A thread that computes a part has not answered for " +
              std::to_string(kPatienceMs / 1'000) +
              " s; the result is lost, and what follows is computed by one thread."};
}

void ThreadPool::take_parts(int thread) {
  for (;;) {
    const std::uint32_t part = next_.fetch_add(1, std::memory_order_relaxed);
    if (part >= parts_) return;
    part_(task_, part, thread);
  }
}

void ThreadPool::serve(int thread) {
  std::uint32_t seen = turn_.load();
  helpers_.fetch_add(1, std::memory_order_acq_rel);
  while (!ends_.load(std::memory_order_acquire)) {
    const std::uint32_t turn = turn_.load();
    if (turn == seen || turn % 2 == 0) {
      seen = turn;
      sleep_on(turn_, turn, kSliceMs);
      continue;
    }
    seen = turn;
    inside_.fetch_add(1);
    if (turn_.load() == turn && thread < threads_) take_parts(thread);
    if (inside_.fetch_sub(1) == 1) wake(inside_);
  }
}

void ThreadPool::end() {
  helpers_.store(0, std::memory_order_release);
  ends_.store(true, std::memory_order_release);
  // Changing `turn_` wakes the helpers. It stays even, which means that no task is open.
  turn_.fetch_add(2);
  wake(turn_);
}

ThreadPool& thread_pool() {
  static constinit ThreadPool one;
  return one;
}

}  // namespace arraycore
