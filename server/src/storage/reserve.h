// Decides which transitions may be written on a full disk. They use the space of the reserve, whose
// file is removed for them (blobs/disk_room.h). Pure.
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>
#include <variant>

#include "storage/transition.h"

namespace hyperflock::storage {

namespace detail {

template <typename T, typename... Ts>
inline constexpr bool kIsOneOf = (std::is_same_v<T, Ts> || ...);

// These transitions end or remove something, change who has access, or stop misuse and lift such a
// stop. Each adds a few rows at most; SetCeiling adds one, and JudgeStudy none. Only the server and
// people with a token can cause them; volunteers can only have their own device erased.
template <typename T>
inline constexpr bool kMayUseReserve =
    kIsOneOf<T, EndStudy, DeleteStudy, SweepDeleted, PauseStudy, JudgeStudy, UpdatePrincipal,
             FreezeProject, BarBlob, SetCeiling, CreateToken, RevokeToken, RevokeEnrolment,
             RevokeDevice, EraseDevice, NoteAudit, TrimAudit, KeepTime>;

}  // namespace detail

inline bool may_use_reserve(const Transition& transition) {
  return std::visit(
      [](const auto& one) { return detail::kMayUseReserve<std::decay_t<decltype(one)>>; },
      transition);
}

inline bool may_use_reserve(std::span<const Transition> batch) {
  return std::ranges::all_of(batch, [](const Transition& one) { return may_use_reserve(one); });
}

}  // namespace hyperflock::storage
