// SPDX-License-Identifier: Apache-2.0
// Products of matrices that are not written down: rows and columns are packed, a few at a time,
// from where they lie.
//
// A tile of the result, some rows and some vectors of columns, is kept in registers; what it reads
// lies in a thread's own cache, in the order in which it is read.

#pragma once

#include <array>
#include <utility>

#include "common.h"

namespace {

// A tile: so many rows, and so many vectors of columns, a panel.
constexpr int kRows = kWidth == 16 ? 8 : 4;
constexpr int kVectors = 3;
constexpr int kColumns = kVectors * kWidth;
// So many products are added up at once: the columns that they read stay in the nearest cache.
constexpr int64_t kDepth = kWidth == 16 ? 160 : 256;
// A thread's own cache holds so many tiles of rows, and so many panels.
constexpr int64_t kMostTiles = 384 / kRows;
constexpr int64_t kMostPanels = 8;
// About so many cycles each element of the depth takes: a tile; packing a panel, and each run of
// it; packing a panel whose columns are rows of what is read.
constexpr int64_t kTileTime = 12, kPackTime = 8, kRunTime = 2, kTurnTime = 20;
// So many pictures, or tiles, are one part of what is done first.
constexpr int64_t kPart = 8;

int64_t Tiles(int64_t count, int64_t size) { return (count + size - 1) / size; }

// -- rows and columns -----------------------------------------------------------------------------

// Columns side by side: where they are read, where they are written, and where in a panel.
struct Run {
  int64_t from, to, at, count;
};

// Runs one behind the other; what goes on with the last one becomes part of it.
template <int64_t most>
struct RunsOf {
  void Add(const Run& run, int64_t step) {
    if (count > 0) {
      Run& last = runs[count - 1];
      if (last.from + last.count == run.from && last.at + last.count == run.at &&
          last.to + last.count * step == run.to) {
        last.count += run.count;
        return;
      }
    }
    runs[count++] = run;
  }

  const Run* begin() const { return runs; }
  const Run* end() const { return runs + count; }

  Run runs[most];
  int64_t count = 0;
};

using Runs = RunsOf<kDepth>;

// Some columns, up to `kColumns`.
struct Panel {
  RunsOf<kColumns> runs;
  int vectors;
};

// Places of pictures, row by row, image by image: where they are read and where they are written.
struct Places {
  int64_t images, rows, columns;
  int64_t from, from_image, from_row;
  int64_t to, to_image, to_row, to_step;

  int64_t Count() const { return images * rows * columns; }

  // Adds so many places from `first` on.
  template <int64_t most>
  void Cut(RunsOf<most>& runs, int64_t first, int64_t count) const {
    int64_t image = first / (rows * columns);
    int64_t row = first / columns % rows, column = first % columns;
    for (int64_t at = 0; at < count;) {
      const int64_t some = std::min(count - at, columns - column);
      runs.Add({from + image * from_image + row * from_row + column,
                to + image * to_image + row * to_row + column * to_step, at, some},
               to_step);
      at += some;
      column = 0;
      if (++row == rows) row = 0, ++image;
    }
  }

  void Cut(Panel& panel, int64_t number) const {
    const int64_t first = number * kColumns, count = std::min<int64_t>(kColumns, Count() - first);
    panel.runs.count = 0;
    Cut(panel.runs, first, count);
    panel.vectors = Tiles(count, kWidth);
  }
};

// What is read, up to its end: vectors that reach beyond it are read in part.
struct Source {
  const float* from;
  int64_t size;

  Vector At(int64_t place) const {
    if (place + kWidth <= size) return Load(from + place);
    return Load(from + place, std::max<int64_t>(0, size - place));
  }
};

// -- packing --------------------------------------------------------------------------------------

template <int step, bool high, size_t... lane>
inline Vector Woven(Vector left, Vector right, std::index_sequence<lane...>) {
#if defined(__clang__) || __GNUC__ >= 12
  return __builtin_shufflevector(left, right,
                                 (high ? (lane & step ? kWidth + lane : lane + step)
                                       : (lane & step ? kWidth + lane - step : lane))...);
#else
  const Integers lanes = {(high ? (lane & step ? kWidth + lane : lane + step)
                                : (lane & step ? kWidth + lane - step : lane))...};
  return __builtin_shuffle(left, right, lanes);
#endif
}

// Rows become columns: blocks beside the diagonal are exchanged, ever smaller ones.
template <int step = kWidth / 2>
inline void Transpose(Vector* rows) {
  if constexpr (step > 0) {
    using Lanes = std::make_index_sequence<kWidth>;
#pragma GCC unroll 16
    for (int n = 0; n < kWidth; ++n) {
      if (n & step) continue;
      const Vector left = rows[n], right = rows[n + step];
      rows[n] = Woven<step, false>(left, right, Lanes());
      rows[n + step] = Woven<step, true>(left, right, Lanes());
    }
    Transpose<step / 2>(rows);
  }
}

// Packs `count` rows, at most as many as a vector has, side by side. Their depth lies in runs, at
// `place` of each; `width` floats are there for each element of it, `kRows` or some vectors. What
// lies `ahead` is fetched.
template <int64_t most>
void PackRows(const Source& source, const int64_t* rows, int64_t count, const RunsOf<most>& depth,
              int64_t Run::* place, int64_t width, float* to, int64_t ahead = 0) {
  for (const Run& run : depth) {
    for (int64_t k = 0; k < run.count; k += kWidth) {
      Vector lanes[kWidth];
      for (int n = 0; n < kWidth; ++n) {
        lanes[n] = Vector{};
        if (n >= count) continue;
        const int64_t at = rows[n] + run.*place + k;
        lanes[n] = source.At(at);
        if (ahead) __builtin_prefetch(source.from + at + ahead, 0, 2);
      }
      Transpose(lanes);
      const int64_t some = std::min<int64_t>(kWidth, run.count - k);
      for (int64_t n = 0; n < some; ++n, to += width) {
        if (width == kRows) {
          std::memcpy(to, &lanes[n], 4 * kRows);
        } else {
          Store(to, lanes[n]);
        }
      }
    }
  }
}

// Packs the columns of panels; element `k` of the depth lies `depth[k]` behind them. What is
// written beyond the end of a row is overwritten by the next one; behind each panel there is room.
void PackColumns(const Source& source, const Panel* panels, int64_t count, const int64_t* depth,
                 int64_t length, float* const* to) {
  struct Piece {
    int64_t from, width;
    float* to;
  };
  std::vector<Piece> pieces;
  int64_t end = 0;
  for (int64_t n = 0; n < count; ++n) {
    for (const Run& run : panels[n].runs) {
      for (int64_t at = 0; at < run.count; at += kWidth) {
        pieces.push_back({run.from + at, panels[n].vectors * kWidth, to[n] + run.at + at});
      }
      end = std::max(end, run.from + run.count + kWidth);
    }
  }
  for (int64_t k = 0; k < length; ++k) {
    const float* from = source.from + depth[k];
    const float* next = source.from + depth[std::min(k + 16, length - 1)];
    if (end + depth[k] <= source.size) {
      for (const Piece& piece : pieces) {
        __builtin_prefetch(next + piece.from, 0, 3);
        Store(piece.to + k * piece.width, Load(from + piece.from));
      }
    } else {
      for (const Piece& piece : pieces) {
        Store(piece.to + k * piece.width, source.At(piece.from + depth[k]));
      }
    }
  }
}

// -- multiplying ----------------------------------------------------------------------------------

// The sums over `depth` of a tile's rows and columns. What is read next is fetched by the way.
template <int rows, int vectors>
void Tile(const float* left, const float* right, int64_t depth, bool more, float* const* to,
          int64_t pitch, const float* next) {
  Vector sums[rows][vectors] = {};
  for (int64_t k = 0; k < depth; ++k, left += kRows, right += vectors * kWidth) {
    Vector met[vectors];
    for (int n = 0; n < vectors; ++n) met[n] = Load(right + n * kWidth);
    __builtin_prefetch(left + 64 * kRows, 0, 3);
    __builtin_prefetch(next + k * 16, 0, 2);
#pragma GCC unroll 16
    for (int row = 0; row < rows; ++row) {
      for (int n = 0; n < vectors; ++n) sums[row][n] += left[row] * met[n];
    }
  }
  for (int row = 0; row < rows; ++row) {
    for (int n = 0; n < vectors; ++n) {
      float* at = to[n] + row * pitch;
      Store(at, more ? Load(at) + sums[row][n] : sums[row][n]);
    }
  }
}

using TileFunction = void (*)(const float*, const float*, int64_t, bool, float* const*, int64_t,
                              const float*);

template <size_t... n>
constexpr std::array<TileFunction, sizeof...(n)> AllTiles(std::index_sequence<n...>) {
  return {Tile<n / kVectors + 1, n % kVectors + 1>...};
}

constexpr auto kTiles = AllTiles(std::make_index_sequence<kVectors * kRows>());

// A product. Its rows are `pitch` apart in the result, and its columns as the runs of panels say,
// `step` apart from each other.
struct Product {
  int64_t rows, depth, panels;
  float* to;
  int64_t pitch, step;
  // About so many cycles packing a panel takes, for each element of the depth.
  int64_t pack_time;
  // Packs a tile of rows, or panels, for `count` elements of the depth from `start` on.
  std::function<void(int64_t tile, int64_t start, int64_t count, float* to)> pack_rows;
  std::function<void(const Panel* panels, int64_t many, int64_t start, int64_t count,
                     float* const* to)>
      pack_columns;
  std::function<void(int64_t number, Panel& panel)> panel;

  int64_t Height() const { return Tiles(rows, kRows); }
  int64_t Size() const { return Height() * kRows * depth; }
  // Where a tile lies if all are packed, from an element of the depth on.
  int64_t At(int64_t tile, int64_t start) const {
    return (start * Height() + tile * std::min(kDepth, depth - start)) * kRows;
  }
};

// Writes some sums `step` apart, or adds them to what is there.
inline void Write(float* to, const float* sums, int64_t count, int64_t step, bool more) {
  typedef float Four __attribute__((vector_size(16)));
  int64_t n = 0;
  if (step == 1) {
    for (; n + kWidth <= count; n += kWidth) {
      Store(to + n, more ? Load(to + n) + Load(sums + n) : Load(sums + n));
    }
    for (; n + 4 <= count; n += 4) {
      Four some, there;
      std::memcpy(&some, sums + n, sizeof some);
      std::memcpy(&there, to + n, sizeof there);
      some = more ? there + some : some;
      std::memcpy(to + n, &some, sizeof some);
    }
  }
  for (; n < count; ++n) to[n * step] = more ? to[n * step] + sums[n] : sums[n];
}

// Multiplies packed rows by a panel, and writes the result, or adds it to what is there.
void Multiply(const Product& product, const Panel& panel, const float* left, int64_t rows,
              const float* right, int64_t depth, bool more, float* to, const float* next) {
  const int64_t pitch = product.pitch, step = product.step;
  float scratch[kRows * kColumns];
  float *whole[kVectors] = {}, *own[kVectors];
  // Whether all vectors are written as they are.
  bool plain = step == 1;
  int64_t written = 0;
  for (const Run& run : panel.runs) {
    plain = plain && run.at % kWidth == 0 && run.count % kWidth == 0;
    for (int64_t n = 0; plain && n < run.count; n += kWidth) {
      whole[(run.at + n) / kWidth] = to + run.to + n;
    }
    written += run.count;
  }
  plain = plain && written == panel.vectors * kWidth;
  for (int n = 0; n < kVectors; ++n) own[n] = scratch + n * kWidth;
  for (int64_t row = 0; row < rows; row += kRows, left += depth * kRows) {
    const int64_t height = std::min<int64_t>(kRows, rows - row);
    const TileFunction tile = kTiles[(height - 1) * kVectors + panel.vectors - 1];
    const float* ahead = next + std::min<int64_t>(row / kRows, panel.vectors - 1) * depth * 16;
    if (plain) {
      tile(left, right, depth, more, whole, pitch, ahead);
      for (float*& place : whole) place += kRows * pitch;
      continue;
    }
    tile(left, right, depth, false, own, kColumns, ahead);
    for (int64_t n = 0; n < height; ++n) {
      for (const Run& run : panel.runs) {
        const float* sums = scratch + n * kColumns + run.at;
        Write(to + (row + n) * pitch + run.to, sums, run.count, step, more);
      }
    }
  }
}

// How a product is cut: units of some tiles of rows and some panels.
struct Units {
  Units(int64_t threads, const Product& product, int64_t products) {
    const int64_t tiles = product.Height();
    int64_t best = INT64_MAX;
    for (int64_t wide = 1; wide <= std::min(product.panels, kMostPanels); ++wide) {
      const int64_t least = Tiles(tiles, kMostTiles);
      for (int64_t cut = least; cut <= std::max(least, std::min<int64_t>(tiles, 64)); cut *= 2) {
        const int64_t high = Tiles(tiles, cut), parts = Tiles(product.panels, wide);
        const int64_t time = wide * (product.pack_time + kTileTime * high) + 2 * kTileTime;
        const int64_t count = products * parts * Tiles(tiles, high);
        // The last unit to end makes the others wait, for half of it on the whole.
        const int64_t total = 2 * Tiles(count, threads) * time + (threads > 1 ? time : 0);
        if (total < best) best = total, width = wide, height = high;
      }
    }
    down = Tiles(tiles, height);
    across = Tiles(product.panels, width);
  }

  int64_t Count() const { return down * across; }

  int64_t width, height, down, across;
};

// Several products that make one result.
class Products {
 public:
  // There will be `count` of about the same size. With `stacks`, for which all are of one size,
  // they may be cut along the depth too: what parts add to the same elements is added up at the end,
  // in their order.
  Products(ffi::ThreadPool& pool, int64_t count, Result& result, bool stacks)
      : pool_(pool),
        threads_(std::max<int64_t>(1, pool.num_threads())),
        count_(count),
        to_(result->typed_data()),
        size_(result->element_count()),
        may_stack_(stacks) {}

  void Add(Product product) {
    const Units units(threads_, product, count_);
    Piece piece{std::move(product), units, packed_size_, parts_, units_, 1, 0};
    // Rows that few units read are packed by these, each time.
    if (units.across > kAlone) {
      packed_size_ += piece.product.Size();
      parts_ += Tiles(piece.product.Height(), kPart);
      piece.shared = true;
    }
    if (may_stack_) {
      const int64_t blocks = Tiles(piece.product.depth, kDepth);
      const int64_t wanted = threads_ < 2 ? 1 : 2 * threads_;
      piece.stack = Tiles(blocks, std::min(blocks, Tiles(wanted, count_ * units.Count()))) * kDepth;
      piece.stacks = Tiles(piece.product.depth, piece.stack);
      stacks_ = std::max(stacks_, piece.stacks);
    }
    units_ += units.Count() * piece.stacks;
    pieces_.push_back(std::move(piece));
  }

  // Computes the result; before that, `lay` for so many parts.
  ffi::Error Run(int64_t lays, std::function<void(int64_t)> lay) {
    packed_ = Allocate(packed_size_);
    own_ = Allocate(threads_ * kOwn);
    partial_ = Allocate(stacks_ > 1 ? (stacks_ - 1) * size_ : 0);
    if (!packed_ || !own_ || !partial_) return NoMemory();
    const int64_t sums = stacks_ > 1 ? Tiles(size_, kSums) : 0;
    InPhases(pool_, {lays + parts_, units_, sums}, [&](int64_t phase, int64_t part, int64_t thread) {
      if (phase == 2) {
        AddUp(part);
      } else if (phase == 1) {
        Compute(Of(part, &Piece::first_unit), part, own_.get() + thread * kOwn);
      } else if (part < lays) {
        lay(part);
      } else {
        Pack(Of(part - lays, &Piece::first_part), part - lays);
      }
    });
    return ffi::Error::Success();
  }

 private:
  struct Piece {
    Product product;
    Units units;
    int64_t packed, first_part, first_unit, stacks, stack;
    bool shared = false;
  };

  // The last piece that begins at or before a number.
  const Piece& Of(int64_t number, int64_t Piece::* first) const {
    size_t low = 0, high = pieces_.size();
    while (high - low > 1) {
      const size_t middle = (low + high) / 2;
      (pieces_[middle].*first <= number ? low : high) = middle;
    }
    return pieces_[low];
  }

  void Pack(const Piece& piece, int64_t part) {
    const Product& product = piece.product;
    const int64_t first = (part - piece.first_part) * kPart;
    for (int64_t tile = first; tile < std::min(product.Height(), first + kPart); ++tile) {
      for (int64_t start = 0; start < product.depth; start += kDepth) {
        product.pack_rows(tile, start, std::min(kDepth, product.depth - start),
                          packed_.get() + piece.packed + product.At(tile, start));
      }
    }
  }

  void Compute(const Piece& piece, int64_t part, float* own) {
    const Product& product = piece.product;
    const Units& units = piece.units;
    const int64_t stack = (part - piece.first_unit) % piece.stacks;
    const int64_t unit = (part - piece.first_unit) / piece.stacks;
    const int64_t top = unit % units.down * units.height, begin = unit / units.down * units.width;
    const int64_t rows = std::min(product.rows - top * kRows, units.height * kRows);
    const int64_t count = std::min(units.width, product.panels - begin);
    float* to = (stack ? partial_.get() + (stack - 1) * size_ : to_) + (product.to - to_) +
                top * kRows * product.pitch;
    Panel panels[kMostPanels];
    for (int64_t n = 0; n < count; ++n) product.panel(begin + n, panels[n]);
    const int64_t first = stack * piece.stack;
    const int64_t last =
        piece.stacks > 1 ? std::min(product.depth, first + piece.stack) : product.depth;
    // Where there is no depth, zeros are written.
    for (int64_t start = first; start < std::max(last, first + 1); start += kDepth) {
      const int64_t some = std::min(kDepth, last - start);
      const float* left = packed_.get() + piece.packed + product.At(top, start);
      if (!piece.shared && some) {
        float* packed = own + kOwnColumns;
        for (int64_t row = 0; row < rows; row += kRows) {
          product.pack_rows(top + row / kRows, start, some, packed + row * some);
        }
        left = packed;
      }
      float *packed = own, *right[kMostPanels];
      for (int64_t n = 0; n < count; ++n) {
        right[n] = packed;
        packed += some * panels[n].vectors * kWidth + kWidth;
      }
      if (some) product.pack_columns(panels, count, start, some, right);
      for (int64_t n = 0; n < count; ++n) {
        Multiply(product, panels[n], left, rows, right[n], some, start > first, to,
                 right[std::min(n + 1, count - 1)]);
      }
    }
  }

  void AddUp(int64_t part) {
    const int64_t end = std::min(size_, (part + 1) * kSums);
    for (int64_t stack = 0; stack + 1 < stacks_; ++stack) {
      const float* from = partial_.get() + stack * size_;
      for (int64_t n = part * kSums; n < end; ++n) to_[n] += from[n];
    }
  }

  // Floats in which a thread packs columns; and rows behind them.
  static constexpr int64_t kOwnColumns = kMostPanels * (kColumns * kDepth + kWidth);
  static constexpr int64_t kOwn = kOwnColumns + kMostTiles * kRows * kDepth + kColumns;
  // Rows that more units than this read are packed once.
  static constexpr int64_t kAlone = 2;
  // Elements of which the stacks are added up at once.
  static constexpr int64_t kSums = 1 << 12;

  ffi::ThreadPool& pool_;
  const int64_t threads_, count_;
  float* const to_;
  const int64_t size_;
  const bool may_stack_;
  std::vector<Piece> pieces_;
  int64_t packed_size_ = 0, parts_ = 0, units_ = 0, stacks_ = 1;
  Memory packed_, own_, partial_;
};

}  // namespace
