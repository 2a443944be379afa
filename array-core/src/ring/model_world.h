// A state of the ring's model (model.h): the shared words, the machines of both sides and the
// device's queue. Tests only.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include "ring/model.h"
#include "ring/state.h"

namespace arraycore::ring::model {

inline constexpr std::size_t kWords = 13;
inline constexpr std::size_t kMaxCapacity = 4;
inline constexpr std::size_t kMaxSerials = 16;
inline constexpr std::uint32_t kLongSliceMs = 800;  // two of them make an executor count as silent

inline constexpr std::array<Word, kWords> kModelled{
    Word::written,  Word::request,    Word::consumed,      Word::fence_done, Word::state,
    Word::answered, Word::sleeps,     Word::interrupt,     Word::error_full, Word::signal,
    Word::progress, Word::silence_ms, Word::errors_dropped};

struct Memory {
  std::array<std::uint32_t, kWords> values{};

  std::uint32_t& operator[](Word word) {
    return values[static_cast<std::size_t>(std::find(kModelled.begin(), kModelled.end(), word) -
                                           kModelled.begin())];
  }
  std::uint32_t load(Word word) { return (*this)[word]; }
  void store(Word word, std::uint32_t value) { (*this)[word] = value; }
  void add(Word word, std::uint32_t value) { (*this)[word] += value; }
  std::uint32_t exchange(Word word, std::uint32_t value) {
    return std::exchange((*this)[word], value);
  }
  void clear_if(Word word, std::uint32_t expected) {
    if ((*this)[word] == expected) (*this)[word] = 0;
  }
};

struct Command {
  Do what = Do::work;
  std::uint8_t serial = 0;
  std::uint8_t fence = 0;
  std::uint8_t generation = 0;  // the number of resets before it
};

// An event that the device will report.
struct Pending {
  bool is_error = false;
  std::uint8_t number = 0;  // the number of the fence, or the serial of the error
};

enum class Place : std::uint8_t { running, waiting, asleep };
enum class Life : std::uint8_t { alive, dead, dead_and_told };

struct World {
  Memory memory;
  Issuer issuer;
  Drain drain;
  Announcement announcement;
  std::array<Command, kMaxCapacity> ring{};
  std::array<Pending, 8> pending{};
  std::uint8_t pending_count = 0;
  // The serial numbers of the errors that the executor's thread has yet to announce; 255 stands for
  // a lost device.
  std::array<std::uint8_t, 4> to_announce{};
  std::uint8_t to_announce_count = 0;
  std::uint8_t announcing = 0;  // the serial that is being announced
  std::uint8_t slot = 0;        // the serial in the error slot
  bool executing = false;       // the command at `position` waits for its announcement
  // The position of the issuer in its script.
  std::uint8_t pc = 0;
  bool started = false;    // the machine runs for the current step of the script
  bool resetting = false;  // an extra reset after a loss
  bool over = false;
  std::uint8_t serials = 0;
  std::uint8_t fences = 0;
  std::uint8_t fence_serial = 0;  // the serial of the newest fence
  std::uint8_t resets = 0;
  std::uint8_t reset_serial = 0;  // of the newest command that a reset has dropped
  Place issuer_place = Place::running;
  Place drain_place = Place::running;
  Life life = Life::alive;
  std::uint8_t messages = 0;
  std::uint8_t interrupts = 0;
  bool revoked = false;
  bool lost_once = false;
  bool reopen_failed = false;
  bool respawned = false;
  std::uint8_t last_executed = 0;
  std::array<std::uint8_t, kMaxSerials>
      reported{};  // by serial: how often the issuer saw the error
  std::array<std::uint8_t, kMaxSerials> raised{};
};

inline constexpr std::uint8_t kLossSerial = 15;

// The bytes of a World. Two worlds are equal if their keys are equal.
struct Key {
  std::array<char, 256> bytes{};
  std::size_t size = 0;

  friend bool operator==(const Key&, const Key&) = default;
};

struct HashOfKey {
  std::size_t operator()(const Key& key) const {
    return std::hash<std::string_view>{}({key.bytes.data(), key.size});
  }
};

template <typename T>
void put(Key& key, T value) {
  assert(key.size + sizeof value <= key.bytes.size());
  std::memcpy(key.bytes.data() + key.size, &value, sizeof value);
  key.size += sizeof value;
}

inline Key key_of(const World& w) {
  Key key;
  for (const std::uint32_t value : w.memory.values) put(key, value);
  put(key, w.issuer.step), put(key, w.issuer.goal), put(key, w.issuer.outcome);
  put(key, w.issuer.met), put(key, w.issuer.head), put(key, w.issuer.target);
  put(key, w.issuer.seen_signal), put(key, w.issuer.seen_progress), put(key, w.issuer.silent_ms);
  put(key, w.issuer.waited_ms);
  put(key, w.drain.step), put(key, w.drain.lost), put(key, w.drain.closing);
  put(key, w.drain.news_follows);
  put(key, w.drain.position), put(key, w.drain.written), put(key, w.drain.handled);
  put(key, w.announcement.step), put(key, w.announcement.news), put(key, w.announcement.fence);
  for (const Command& c : w.ring)
    put(key, c.what), put(key, c.serial), put(key, c.fence), put(key, c.generation);
  for (const Pending& p : w.pending) put(key, p.is_error), put(key, p.number);
  put(key, w.pending_count), put(key, w.to_announce_count), put(key, w.announcing);
  for (const std::uint8_t serial : w.to_announce) put(key, serial);
  put(key, w.slot), put(key, w.executing), put(key, w.pc), put(key, w.started);
  put(key, w.resetting), put(key, w.over), put(key, w.serials), put(key, w.fences);
  put(key, w.fence_serial), put(key, w.reset_serial);
  put(key, w.resets), put(key, w.issuer_place), put(key, w.drain_place), put(key, w.life);
  put(key, w.messages), put(key, w.interrupts), put(key, w.revoked), put(key, w.lost_once);
  put(key, w.reopen_failed), put(key, w.respawned), put(key, w.last_executed);
  for (const std::uint8_t count : w.reported) put(key, count);
  for (const std::uint8_t count : w.raised) put(key, count);
  return key;
}

}  // namespace arraycore::ring::model
