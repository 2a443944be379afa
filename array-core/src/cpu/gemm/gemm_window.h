// Packs a convolution's operands for cpu/gemm/gemm_kernel.h. b's panels are gathered through the
// window, so that only a block of the unfolded data exists at a time. Internal to cpu/; the thread
// pool's threads read what b() packed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu/gemm/gemm.h"
#include "cpu/gemm/gemm_blocks.h"
#include "cpu/gemm/gemm_pack.h"
#include "gemm/problem.h"

namespace arraycore::cpu {

// Packs the operands for one element of the problem's batch; see multiply_blocks.
template <typename T>
class Windowed {
 public:
  // `memory` has place_bytes() bytes and is aligned to 8 bytes.
  Windowed(const gemm::Problem& problem, const Blocks<T>& blocks, std::byte* memory,
           const T* from_a, const T* from_b, T* out)
      : problem_(problem), window_(*problem.window), from_a_(from_a), from_b_(from_b), out_(out) {
    columns_ = reinterpret_cast<Place*>(memory);
    terms_ = columns_ + blocks.columns();
    outs_ = reinterpret_cast<std::int64_t*>(terms_ + blocks.depth());
    a_terms_ = outs_ + blocks.columns();
  }
  static std::size_t place_bytes(const Blocks<T>& blocks) {
    const auto count = static_cast<std::size_t>(blocks.columns() + blocks.depth());
    return count * (sizeof(Place) + sizeof(std::int64_t));
  }

  void a(std::int64_t row, std::int64_t rows, std::int64_t term, std::int64_t terms, T* to) {
    const gemm::Matrix& left = problem_.a;
    const T* const from = from_a_ + row * left.row_stride;
    if (problem_.terms_in_a_row()) {
      pack<T, kRows>(from + term, left.row_stride, 1, rows, terms, to);
      return;
    }
    for (std::int64_t first = 0; first < rows; first += kRows, to += terms * kRows) {
      const std::int64_t there = std::min<std::int64_t>(kRows, rows - first);
      if (there < kRows) std::fill(to, to + terms * kRows, T{});
      for (std::int64_t i = 0; i < there; ++i) {
        const T* const line = from + (first + i) * left.row_stride;
        for (std::int64_t p = 0; p < terms; ++p) to[p * kRows + i] = line[a_terms_[p]];
      }
    }
  }

  // Sets the prologue that changes b's elements; nullptr changes none.
  void set_prologue(PackedPrologue* prologue, std::int64_t batch) {
    prologue_ = prologue;
    batch_ = batch;
  }

  Status b(std::int64_t column, std::int64_t columns, std::int64_t term, std::int64_t terms,
           T* to) {
    if (term == 0) find_columns(column, columns);
    find_terms(term, terms);
    panels<false>(columns, terms, to);
    if (prologue_ == nullptr) return Done{};
    const Status done = prologue_->apply({batch_, column, columns, term, terms, kColumns<T>},
                                         reinterpret_cast<std::byte*>(to));
    // Elements outside the data must be 0, even if the prologue has changed them.
    panels<true>(columns, terms, to);
    return done;
  }

  Target<T> target(std::int64_t row, std::int64_t /*first*/, std::int64_t column,
                   std::int64_t wide) const {
    Target<T> target;
    target.row_stride = problem_.out.row_stride;
    target.out = out_ + row * target.row_stride;
    const std::int64_t* const places = outs_ + column;
    bool in_a_row = true;
    for (std::int64_t i = 1; i < wide; ++i) in_a_row = in_a_row && places[i] == places[0] + i;
    if (in_a_row) {
      target.out += places[0];
      target.column_stride = 1;
    } else {
      target.places = places;
    }
    return target;
  }

 private:
  static constexpr std::size_t kAxes = gemm::kWindowAxes;
  static constexpr std::size_t kLast = kAxes - 1;
  // The amounts that a column or a term adds to the offset in b and to the position on each axis.
  struct Place {
    std::int64_t at = 0;
    std::array<std::int64_t, kAxes> x{};
  };
  // Consecutive columns whose windows are at neighbouring positions on the last axis.
  struct Run {
    std::int64_t lane = 0;
    std::int64_t count = 0;
  };

  void find_columns(std::int64_t first, std::int64_t count) {
    std::array<std::int64_t, kAxes> digit{};
    std::int64_t outer = split(first, &gemm::WindowAxis::columns, digit);
    for (std::int64_t i = 0; i < count; ++i) {
      Place& place = columns_[i];
      place.at = outer * problem_.b.column_stride;
      outs_[i] = outer * problem_.out.column_stride;
      for (std::size_t axis = 0; axis < kAxes; ++axis) {
        const gemm::WindowAxis& each = window_.axes[axis];
        place.x[axis] = digit[axis] * each.column_step + each.origin;
        place.at += place.x[axis] * each.b_stride;
        outs_[i] += digit[axis] * each.out_stride;
      }
      step(&gemm::WindowAxis::columns, digit, outer);
    }
  }

  void find_terms(std::int64_t first, std::int64_t count) {
    std::array<std::int64_t, kAxes> digit{};
    std::int64_t outer = split(first, &gemm::WindowAxis::terms, digit);
    for (std::int64_t p = 0; p < count; ++p) a_terms_[p] = problem_.a_at(0, first + p);
    for (std::int64_t i = 0; i < count; ++i) {
      Place& place = terms_[i];
      place.at = outer * problem_.b.row_stride;
      for (std::size_t axis = 0; axis < kAxes; ++axis) {
        const gemm::WindowAxis& each = window_.axes[axis];
        place.x[axis] = digit[axis] * each.term_step;
        place.at += place.x[axis] * each.b_stride;
      }
      step(&gemm::WindowAxis::terms, digit, outer);
    }
  }

  // Splits a number into digits, one for each axis. Returns the outermost digit.
  std::int64_t split(std::int64_t number, std::int64_t gemm::WindowAxis::* extent,
                     std::array<std::int64_t, kAxes>& digit) const {
    for (std::size_t axis = kAxes; axis-- > 0;) {
      digit[axis] = number % (window_.axes[axis].*extent);
      number /= window_.axes[axis].*extent;
    }
    return number;
  }
  // Advances the digits to those of the next number.
  void step(std::int64_t gemm::WindowAxis::* extent, std::array<std::int64_t, kAxes>& digit,
            std::int64_t& outer) const {
    for (std::size_t axis = kAxes; axis-- > 0;) {
      if (++digit[axis] < window_.axes[axis].*extent) return;
      digit[axis] = 0;
    }
    ++outer;
  }

  static bool inside(std::int64_t x, std::int64_t extent) {
    return static_cast<std::uint64_t>(x) < static_cast<std::uint64_t>(extent);
  }

  // Fills a block of packed columns. With `blank` it only sets elements outside the data to 0.
  template <bool blank>
  void panels(std::int64_t columns, std::int64_t terms, T* to) const {
    for (std::int64_t first = 0; first < columns; first += kColumns<T>, to += terms * kColumns<T>)
      panel<blank>(first, std::min<std::int64_t>(kColumns<T>, columns - first), terms, to);
  }

  // Fills columns [first, first + wide) of the block, for its terms.
  template <bool blank>
  void panel(std::int64_t first, std::int64_t wide, std::int64_t terms, T* to) const {
    const gemm::WindowAxis& last = window_.axes[kLast];
    const std::int64_t stride = last.column_step * last.b_stride;
    std::array<Run, static_cast<std::size_t>(kColumns<T>)> runs{};
    std::size_t count = 0;
    for (std::int64_t lane = 0; lane < wide; ++lane) {
      const bool follows = lane > 0 &&
                           columns_[first + lane].at == columns_[first + lane - 1].at + stride &&
                           columns_[first + lane].x[kLast] ==
                               columns_[first + lane - 1].x[kLast] + last.column_step &&
                           same_row(columns_[first + lane], columns_[first + lane - 1]);
      if (!follows) runs[count++] = {lane, 0};
      ++runs[count - 1].count;
    }
    if (!blank && wide < kColumns<T>) std::fill(to, to + terms * kColumns<T>, T{});
    for (std::int64_t p = 0; p < terms; ++p)
      for (std::size_t r = 0; r < count; ++r)
        run<blank>(columns_[first + runs[r].lane], terms_[p], runs[r].count, stride,
                   to + p * kColumns<T> + runs[r].lane);
  }

  static bool same_row(const Place& one, const Place& other) {
    for (std::size_t axis = 0; axis < kLast; ++axis)
      if (one.x[axis] != other.x[axis]) return false;
    return true;
  }

  template <bool blank>
  void run(const Place& column, const Place& term, std::int64_t count, std::int64_t stride,
           T* to) const {
    bool there = true;
    for (std::size_t axis = 0; axis < kLast; ++axis)
      there = there && inside(column.x[axis] + term.x[axis], window_.axes[axis].extent);
    if (!there) {
      std::fill(to, to + count, T{});
      return;
    }
    const gemm::WindowAxis& last = window_.axes[kLast];
    const std::int64_t x = column.x[kLast] + term.x[kLast];
    const std::int64_t at = column.at + term.at;
    if (inside(x, last.extent) && inside(x + (count - 1) * last.column_step, last.extent)) {
      if (blank) return;
      const T* const from = from_b_ + at;
      if (count == kColumns<T> && stride == 1)
        std::memcpy(to, from, kColumns<T> * sizeof(T));
      else
        for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
      return;
    }
    for (std::int64_t i = 0; i < count; ++i)
      if (!inside(x + i * last.column_step, last.extent))
        to[i] = T{};
      else if (!blank)
        to[i] = from_b_[at + i * stride];
  }

  const gemm::Problem& problem_;
  const gemm::Window& window_;
  const T* from_a_;
  const T* from_b_;
  T* out_;
  PackedPrologue* prologue_ = nullptr;
  std::int64_t batch_ = 0;
  Place* columns_ = nullptr;  // the columns of the block
  Place* terms_ = nullptr;
  std::int64_t* outs_ = nullptr;  // the offsets of the block's columns in the result
  std::int64_t* a_terms_ = nullptr;
};

}  // namespace arraycore::cpu
