// The positions of Winograd's tiles in images, and copies of image rows with zeros around them,
// from which the tiles are read. Such a copy is called a line. Tiles of 2 x 2 outputs are numbered
// image by image, row by row. They are handled in pairs of neighbours, so the last pair of a row
// may have one tile too many. Internal to cpu/; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace arraycore::cpu {

// The tiles along one axis of the image. Tile t has the outputs 2 t and 2 t + 1, and reads elements
// from 2 t + first on. Elements outside [0, extent) are 0.
struct TileAxis {
  std::int64_t places = 1;
  std::int64_t first = 0;
  std::int64_t extent = 1;
  std::int64_t stride = 1;  // elements
};

// Consecutive pairs of tiles.
struct TileChunk {
  static constexpr std::int64_t kMost = 128;  // pairs

  std::int64_t pairs = 0;
  std::array<std::int32_t, kMost> in_lines{};  // the offset of a pair's first element
  std::array<std::int32_t, kMost> image{};
  std::array<std::int32_t, kMost> y{};  // the first output position of a pair
  std::array<std::int32_t, kMost> x{};
  std::int64_t lines = 0;
  // The offset of the image row of each line; kNowhere for a line of zeros.
  std::array<std::int64_t, 4 * kMost> from{};
};

class Tiles {
 public:
  // `tile_size` is the number of elements of a tile along an axis, 4 or 2.
  Tiles(std::int64_t images, std::int64_t image_stride, const TileAxis& y, const TileAxis& x,
        std::int64_t tile_size)
      : image_stride_(image_stride),
        y_(y),
        x_(x),
        tile_size_(tile_size),
        pairs_of_row_((x.places + 3) / 4),
        pairs_of_image_((y.places + 1) / 2 * pairs_of_row_),
        pairs_(images * pairs_of_image_) {}

  std::int64_t pairs() const { return pairs_; }
  // Returns how many outputs an image's tiles have, including those outside the image.
  std::int64_t computed() const { return pairs_of_image_ * 8; }
  std::int64_t line() const {
    return pairs_of_row_ * 4 + tile_size_ - 2;
  }  // elements from line to line
  // Returns the maximum number of elements in the lines of `pairs` pairs.
  std::int64_t size(std::int64_t pairs) const {
    const std::int64_t rows = std::min(pairs, pairs / pairs_of_row_ + 2);
    return (rows + 1) * tile_size_ * line();
  }

  // Finds the pairs [first, first + most), or as many as exist. The entries of missing pairs refer
  // to zeros after all lines. REQUIRES: most <= TileChunk::kMost.
  void find(std::int64_t first, std::int64_t most, TileChunk& chunk) const {
    chunk.pairs = std::min(most, pairs_ - first);
    chunk.lines = 0;
    std::int64_t row = -1;  // the row of tiles of the last lines
    std::int64_t top = 0;
    for (std::int64_t i = 0; i < chunk.pairs; ++i) {
      const std::int64_t pair = first + i;
      const std::int64_t image = pair / pairs_of_image_;
      const std::int64_t y = pair % pairs_of_image_ / pairs_of_row_ * 2;
      const std::int64_t x = pair % pairs_of_row_ * 4;
      if (pair / pairs_of_row_ != row) {
        // Neighbouring rows of tiles of one image share lines.
        const std::int64_t shared = row >= 0 && y > 0 ? tile_size_ - 2 : 0;
        top = chunk.lines - shared;
        for (std::int64_t line = shared; line < tile_size_; ++line) {
          const std::int64_t at = y + line + y_.first;
          chunk.from[static_cast<std::size_t>(chunk.lines++)] =
              at < 0 || at >= y_.extent ? kNowhere : image * image_stride_ + at * y_.stride;
        }
        row = pair / pairs_of_row_;
      }
      const auto place = static_cast<std::size_t>(i);
      chunk.in_lines[place] = static_cast<std::int32_t>(top * line() + x);
      chunk.image[place] = static_cast<std::int32_t>(image);
      chunk.y[place] = static_cast<std::int32_t>(y);
      chunk.x[place] = static_cast<std::int32_t>(x);
    }
    for (std::int64_t i = chunk.pairs; i < most; ++i)
      chunk.in_lines[static_cast<std::size_t>(i)] =
          static_cast<std::int32_t>(size(most) - tile_size_ * line());
  }

  // Copies the lines of one channel. Before the call, `lines` has zeros or another channel, so that
  // elements outside the image are 0.
  void copy(const float* from, const TileChunk& chunk, float* lines) const {
    const std::int64_t first = std::max<std::int64_t>(0, x_.first);
    const std::int64_t end = std::min(x_.extent, x_.first + line());
    if (end <= first) return;
    for (std::int64_t i = 0; i < chunk.lines; ++i) {
      const std::int64_t at = chunk.from[static_cast<std::size_t>(i)];
      if (at != kNowhere)
        std::memcpy(lines + i * line() + first - x_.first, from + at + first,
                    static_cast<std::size_t>(end - first) * sizeof(float));
    }
  }

 private:
  static constexpr std::int64_t kNowhere = -1;

  std::int64_t image_stride_;
  TileAxis y_;
  TileAxis x_;  // its stride is 1
  std::int64_t tile_size_;
  std::int64_t pairs_of_row_;
  std::int64_t pairs_of_image_;
  std::int64_t pairs_;
};

}  // namespace arraycore::cpu
