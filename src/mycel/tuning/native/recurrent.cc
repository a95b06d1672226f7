// SPDX-License-Identifier: Apache-2.0
// LSTM and GRU over all times in one call, forward and reverse, for XLA on a CPU.
//
// XLA runs the small product of each step on one core, and between two of them the other core falls
// asleep. Here each thread takes some rows of the batch through all times, and waits for nobody.
// Arrays are [time, batch, features], weights [gates * hidden, hidden]. What a step means is said in
// mycel/ops/nn/recurrent_kinds.py; sums are in another order than XLA's, everything else is the same.

#include "common.h"

namespace {

// -- gates ----------------------------------------------------------------------------------------

// tanh(x) = (e - 1) / (e + 1) with e = exp(2 x), from exp(2 x) - 1, which is exact where x is small.
inline Vector Tanh(Vector x) {
  Vector y = x + x;
  y = y < -20.0f ? Vector{} - 20.0f : y;
  y = y > 20.0f ? Vector{} + 20.0f : y;
  // y = n log 2 + r; adding 1.5 * 2^23 rounds, and leaves n in the last bits.
  const Vector shifted = y * 1.44269504f + 12582912.0f;
  const Vector n = shifted - 12582912.0f;
  const Vector r = (y - n * 0.693359375f) + n * 2.12194440e-4f;
  Vector sum = r * (1.0f / 5040) + 1.0f / 720;
  sum = sum * r + 1.0f / 120;
  sum = sum * r + 1.0f / 24;
  sum = sum * r + 1.0f / 6;
  sum = sum * r + 0.5f;
  sum = sum * r * r + r;
  const Vector power = (Vector)(((Integers)shifted << 23) + 0x3f800000);
  const Vector beyond = power * sum + (power - 1.0f);
  return beyond / (beyond + 2.0f);
}

inline Vector Sigmoid(Vector x) { return Tanh(x * 0.5f) * 0.5f + 0.5f; }

// -- products -------------------------------------------------------------------------------------

// Rows of a tile: what the registers hold.
constexpr int kRows = kWidth == 16 ? 8 : 4;
// The fewest rows that a thread is given, if there are more.
constexpr int kLeast = 4;
// Columns of a panel of the weight: two vectors.
constexpr int kPanel = 2 * kWidth;

int64_t Panels(int64_t columns) { return (columns + kPanel - 1) / kPanel; }

// One panel of a matrix [depth, columns], whose element (k, j) is at k * down + j * right.
void Pack(const float* matrix, int64_t down, int64_t right, int64_t depth, int64_t columns,
          int64_t panel, float* packed) {
  const int64_t first = panel * kPanel;
  const int64_t count = std::min<int64_t>(kPanel, columns - first);
  float* to = packed + first * depth;
  if (count < kPanel) std::memset(to, 0, 4 * kPanel * depth);
  if (right == 1) {
    for (int64_t k = 0; k < depth; ++k) {
      std::memcpy(to + k * kPanel, matrix + k * down + first, 4 * count);
    }
    return;
  }
  for (int64_t j = 0; j < count; ++j) {
    const float* from = matrix + (first + j) * right;
    for (int64_t k = 0; k < depth; ++k) to[k * kPanel + j] = from[k * down];
  }
}

// `count` columns of c = start + a b, for some rows; start may be null.
template <int rows>
void Tile(const float* a, int64_t a_stride, const float* panel, int64_t depth, const float* start,
          int64_t start_stride, float* c, int64_t c_stride, int count) {
  Vector sums[rows][2] = {};
  for (int64_t k = 0; k < depth; ++k) {
    const Vector left = Load(panel + k * kPanel), right = Load(panel + k * kPanel + kWidth);
#pragma GCC unroll 16
    for (int row = 0; row < rows; ++row) {
      const float factor = a[row * a_stride + k];
      sums[row][0] += factor * left;
      sums[row][1] += factor * right;
    }
  }
  for (int row = 0; row < rows; ++row) {
    for (int half = 0; half < 2; ++half) {
      const int rest = count - half * kWidth;
      if (rest <= 0) continue;
      const int64_t at = half * kWidth;
      if (start) sums[row][half] += Load(start + row * start_stride + at, rest);
      Store(c + row * c_stride + at, sums[row][half], rest);
    }
  }
}

template <int rows>
void Block(int64_t count, const float* a, int64_t a_stride, const float* panel, int64_t depth,
           const float* start, int64_t start_stride, float* c, int64_t c_stride, int columns) {
  if constexpr (rows > 0) {
    if (count == rows) {
      Tile<rows>(a, a_stride, panel, depth, start, start_stride, c, c_stride, columns);
    } else {
      Block<rows - 1>(count, a, a_stride, panel, depth, start, start_stride, c, c_stride, columns);
    }
  }
}

// c [rows, columns] = start + a [rows, depth] b, with b in panels.
void Product(int64_t rows, int64_t depth, int64_t columns, const float* a, int64_t a_stride,
             const float* packed, const float* start, int64_t start_stride, float* c,
             int64_t c_stride) {
  for (int64_t panel = 0; panel < Panels(columns); ++panel) {
    const int64_t first = panel * kPanel;
    const int count = static_cast<int>(std::min<int64_t>(kPanel, columns - first));
    for (int64_t row = 0; row < rows; row += kRows) {
      Block<kRows>(std::min<int64_t>(kRows, rows - row), a + row * a_stride, a_stride,
                   packed + first * depth, depth, start ? start + row * start_stride + first : start,
                   start_stride, c + row * c_stride + first, c_stride, count);
    }
  }
}

// -- rows of a batch ------------------------------------------------------------------------------

// How the rows of a batch are cut: as many parts as threads, each of whole tiles or half tiles.
struct Cut {
  Cut(ffi::ThreadPool& pool, int64_t batch) : total(batch) {
    const int64_t unit = batch >= kRows * pool.num_threads() ? kRows : kLeast;
    const int64_t units = (batch + unit - 1) / unit;
    const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(units, pool.num_threads()));
    rows = (units + parts - 1) / parts * unit;
    count = (batch + rows - 1) / rows;
  }
  int64_t First(int64_t part) const { return part * rows; }
  int64_t Size(int64_t part) const { return std::min(rows, total - First(part)); }

  int64_t total, rows, count;
};

// The weight in panels: `transposed` for h W^T of a step, as it lies for its reverse.
Memory Packed(ffi::ThreadPool& pool, const float* weight, int64_t outer, int64_t inner,
              bool transposed) {
  const int64_t depth = transposed ? inner : outer, columns = transposed ? outer : inner;
  Memory packed = Allocate(depth * Panels(columns) * kPanel);
  if (!packed) return packed;
  const int64_t panels = Panels(columns), each = 4;
  InParts(pool, (panels + each - 1) / each, [&](int64_t part) {
    const int64_t end = std::min(panels, (part + 1) * each);
    for (int64_t panel = part * each; panel < end; ++panel) {
      Pack(weight, transposed ? 1 : inner, transposed ? inner : 1, depth, columns, panel,
           packed.get());
    }
  });
  return packed;
}

using Counts = ffi::Buffer<ffi::S32>;

// [time, batch, features] of an array, and where a row of it is.
struct Sizes {
  explicit Sizes(const Array& array)
      : steps(array.dimensions()[0]), batch(array.dimensions()[1]), width(array.dimensions()[2]) {}
  int64_t steps, batch, width;
};

// -- forward --------------------------------------------------------------------------------------

// An LSTM's gates from their sums, in place, and the new cell and hidden state of one row.
inline void LstmRow(float* gates, float* cell, float* hidden, int64_t width) {
  for (int64_t j = 0; j < width; j += kWidth) {
    const int count = static_cast<int>(std::min<int64_t>(kWidth, width - j));
    const Vector entering = Sigmoid(Load(gates + j, count));
    const Vector forgetting = Sigmoid(Load(gates + width + j, count));
    const Vector fresh = Tanh(Load(gates + 2 * width + j, count));
    const Vector leaving = Sigmoid(Load(gates + 3 * width + j, count));
    const Vector next = forgetting * Load(cell + j, count) + entering * fresh;
    Store(gates + j, entering, count);
    Store(gates + width + j, forgetting, count);
    Store(gates + 2 * width + j, fresh, count);
    Store(gates + 3 * width + j, leaving, count);
    Store(cell + j, next, count);
    Store(hidden + j, leaving * Tanh(next), count);
  }
}

ffi::Error LstmForward(ffi::ThreadPool pool, bool backwards, Array projected, Array weight,
                       Array hidden, Array cell, Counts lengths, Result outputs, Result kept,
                       Result cells, Result last_hidden, Result last_cell) {
  const Running running;
  const Sizes size(*outputs);
  const int64_t width = size.width, gates = 4 * width;
  const Memory packed = Packed(pool, weight.typed_data(), gates, width, true);
  if (!packed) return NoMemory();
  const Cut cut(pool, size.batch);
  InParts(pool, cut.count, [&](int64_t part) {
    const int64_t first = cut.First(part), rows = cut.Size(part);
    const int64_t bytes = 4 * width;
    float* state = last_hidden->typed_data() + first * width;
    float* memory = last_cell->typed_data() + first * width;
    std::memcpy(state, hidden.typed_data() + first * width, rows * bytes);
    std::memcpy(memory, cell.typed_data() + first * width, rows * bytes);
    for (int64_t step = 0; step < size.steps; ++step) {
      const int64_t time = backwards ? size.steps - 1 - step : step;
      const int64_t at = time * size.batch + first;
      float* sums = kept->typed_data() + at * gates;
      Product(rows, width, gates, state, width, packed.get(),
              projected.typed_data() + at * gates, gates, sums, gates);
      for (int64_t row = 0; row < rows; ++row) {
        float* output = outputs->typed_data() + (at + row) * width;
        float* next = cells->typed_data() + (at + row) * width;
        std::memcpy(next, memory + row * width, bytes);
        if (time < lengths.typed_data()[first + row]) {
          LstmRow(sums + row * gates, next, output, width);
          std::memcpy(memory + row * width, next, bytes);
          std::memcpy(state + row * width, output, bytes);
        } else {
          std::memset(output, 0, bytes);
          std::memset(sums + row * gates, 0, 4 * bytes);
        }
      }
    }
  });
  return ffi::Error::Success();
}

// A GRU's gates from both products, and the new hidden state of one row.
inline void GruRow(const float* projected, const float* recurrent, const float* before,
                   float* kept, float* hidden, int64_t width) {
  for (int64_t j = 0; j < width; j += kWidth) {
    const int count = static_cast<int>(std::min<int64_t>(kWidth, width - j));
    const Vector reset = Sigmoid(Load(projected + j, count) + Load(recurrent + j, count));
    const Vector update =
        Sigmoid(Load(projected + width + j, count) + Load(recurrent + width + j, count));
    const Vector inner = Load(recurrent + 2 * width + j, count);
    const Vector fresh = Tanh(Load(projected + 2 * width + j, count) + reset * inner);
    Store(kept + j, reset, count);
    Store(kept + width + j, update, count);
    Store(kept + 2 * width + j, fresh, count);
    Store(kept + 3 * width + j, inner, count);
    Store(hidden + j, fresh + update * (Load(before + j, count) - fresh), count);
  }
}

ffi::Error GruForward(ffi::ThreadPool pool, bool backwards, Array projected, Array weight,
                      Array inner, Array hidden, Counts lengths, Result outputs, Result kept,
                      Result last_hidden) {
  const Running running;
  const Sizes size(*outputs);
  const int64_t width = size.width, gates = 3 * width;
  const Memory packed = Packed(pool, weight.typed_data(), gates, width, true);
  const Memory sums_of_all = Allocate(size.batch * gates);
  if (!packed || !sums_of_all) return NoMemory();
  const Cut cut(pool, size.batch);
  InParts(pool, cut.count, [&](int64_t part) {
    const int64_t first = cut.First(part), rows = cut.Size(part);
    const int64_t bytes = 4 * width;
    float* sums = sums_of_all.get() + first * gates;
    float* state = last_hidden->typed_data() + first * width;
    std::memcpy(state, hidden.typed_data() + first * width, rows * bytes);
    for (int64_t step = 0; step < size.steps; ++step) {
      const int64_t time = backwards ? size.steps - 1 - step : step;
      const int64_t at = time * size.batch + first;
      Product(rows, width, gates, state, width, packed.get(), inner.typed_data(), 0, sums,
              gates);
      for (int64_t row = 0; row < rows; ++row) {
        float* output = outputs->typed_data() + (at + row) * width;
        float* gate = kept->typed_data() + (at + row) * 4 * width;
        if (time < lengths.typed_data()[first + row]) {
          GruRow(projected.typed_data() + (at + row) * gates, sums + row * gates,
                 state + row * width, gate, output, width);
          std::memcpy(state + row * width, output, bytes);
        } else {
          std::memset(output, 0, bytes);
          std::memset(gate, 0, 4 * bytes);
        }
      }
    }
  });
  return ffi::Error::Success();
}

// -- reverse --------------------------------------------------------------------------------------

// The slopes of an LSTM's sums; `above` is the cotangent of the cell, then that of the one before.
inline void LstmRowBack(const float* gates, const float* cell, const float* before,
                        const float* arrived, const float* cotangent, float* above, float* slopes,
                        int64_t width) {
  for (int64_t j = 0; j < width; j += kWidth) {
    const int count = static_cast<int>(std::min<int64_t>(kWidth, width - j));
    const Vector entering = Load(gates + j, count), forgetting = Load(gates + width + j, count);
    const Vector fresh = Load(gates + 2 * width + j, count);
    const Vector leaving = Load(gates + 3 * width + j, count);
    const Vector bent = Tanh(Load(cell + j, count));
    const Vector hidden = Load(arrived + j, count) + Load(cotangent + j, count);
    const Vector inside = Load(above + j, count) + hidden * (leaving * (1.0f - bent * bent));
    Store(slopes + j, inside * (fresh * entering * (1.0f - entering)), count);
    Store(slopes + width + j,
          inside * (Load(before + j, count) * forgetting * (1.0f - forgetting)), count);
    Store(slopes + 2 * width + j, inside * (entering * (1.0f - fresh * fresh)), count);
    Store(slopes + 3 * width + j, hidden * (bent * leaving * (1.0f - leaving)), count);
    Store(above + j, inside * forgetting, count);
  }
}

ffi::Error LstmReverse(ffi::ThreadPool pool, bool backwards, Array cotangent, Array kept,
                       Array cells, Array weight, Array cell, Counts lengths, Array last_hidden,
                       Array last_cell, Result slopes, Result toward_hidden, Result toward_cell) {
  const Running running;
  const Sizes size(cells);
  const int64_t width = size.width, gates = 4 * width;
  const Memory packed = Packed(pool, weight.typed_data(), gates, width, false);
  const Memory products = Allocate(size.batch * width);
  if (!packed || !products) return NoMemory();
  const Cut cut(pool, size.batch);
  InParts(pool, cut.count, [&](int64_t part) {
    const int64_t first = cut.First(part), rows = cut.Size(part);
    const int64_t bytes = 4 * width;
    float* product = products.get() + first * width;
    float* arrived = toward_hidden->typed_data() + first * width;
    float* above = toward_cell->typed_data() + first * width;
    std::memcpy(arrived, last_hidden.typed_data() + first * width, rows * bytes);
    std::memcpy(above, last_cell.typed_data() + first * width, rows * bytes);
    for (int64_t step = size.steps - 1; step >= 0; --step) {
      const int64_t time = backwards ? size.steps - 1 - step : step;
      const int64_t at = time * size.batch + first;
      const float* earlier = step == 0 ? cell.typed_data() + first * width
                                       : cells.typed_data() +
                                             (at + (backwards ? size.batch : -size.batch)) * width;
      float* slope = slopes->typed_data() + at * gates;
      for (int64_t row = 0; row < rows; ++row) {
        if (time < lengths.typed_data()[first + row]) {
          const int64_t here = (at + row) * width;
          LstmRowBack(kept.typed_data() + 4 * here, cells.typed_data() + here,
                      earlier + row * width, arrived + row * width,
                      cotangent.typed_data() + here, above + row * width, slope + row * gates,
                      width);
        } else {
          std::memset(slope + row * gates, 0, 4 * bytes);
        }
      }
      Product(rows, gates, width, slope, gates, packed.get(), nullptr, 0, product, width);
      for (int64_t row = 0; row < rows; ++row) {
        if (time < lengths.typed_data()[first + row]) {
          std::memcpy(arrived + row * width, product + row * width, bytes);
        }
      }
    }
  });
  return ffi::Error::Success();
}

// The slopes of a GRU's products: of both gates, of the new state, and of its recurrent part.
// `toward` has those of the recurrent product beside each other, `straight` what does not pass it.
inline void GruRowBack(const float* kept, const float* before, const float* arrived,
                       const float* cotangent, float* slopes, float* toward, float* straight,
                       int64_t width) {
  for (int64_t j = 0; j < width; j += kWidth) {
    const int count = static_cast<int>(std::min<int64_t>(kWidth, width - j));
    const Vector reset = Load(kept + j, count), update = Load(kept + width + j, count);
    const Vector fresh = Load(kept + 2 * width + j, count);
    const Vector inner = Load(kept + 3 * width + j, count);
    const Vector hidden = Load(arrived + j, count) + Load(cotangent + j, count);
    const Vector news = hidden * ((1.0f - update) * (1.0f - fresh * fresh));
    const Vector resets = news * (inner * reset * (1.0f - reset));
    const Vector updates =
        hidden * ((Load(before + j, count) - fresh) * update * (1.0f - update));
    Store(slopes + j, resets, count);
    Store(slopes + width + j, updates, count);
    Store(slopes + 2 * width + j, news, count);
    Store(slopes + 3 * width + j, news * reset, count);
    Store(toward + j, resets, count);
    Store(toward + width + j, updates, count);
    Store(toward + 2 * width + j, news * reset, count);
    Store(straight + j, hidden * update, count);
  }
}

ffi::Error GruReverse(ffi::ThreadPool pool, bool backwards, Array cotangent, Array kept,
                      Array outputs, Array weight, Array hidden, Counts lengths,
                      Array last_hidden, Result slopes, Result toward_hidden) {
  const Running running;
  const Sizes size(outputs);
  const int64_t width = size.width, gates = 3 * width;
  const Memory packed = Packed(pool, weight.typed_data(), gates, width, false);
  const Memory towards = Allocate(size.batch * gates), straights = Allocate(size.batch * width);
  if (!packed || !towards || !straights) return NoMemory();
  const Cut cut(pool, size.batch);
  InParts(pool, cut.count, [&](int64_t part) {
    const int64_t first = cut.First(part), rows = cut.Size(part);
    const int64_t bytes = 4 * width;
    float* toward = towards.get() + first * gates;
    float* straight = straights.get() + first * width;
    float* arrived = toward_hidden->typed_data() + first * width;
    std::memcpy(arrived, last_hidden.typed_data() + first * width, rows * bytes);
    for (int64_t step = size.steps - 1; step >= 0; --step) {
      const int64_t time = backwards ? size.steps - 1 - step : step;
      const int64_t at = time * size.batch + first;
      const int64_t earlier = backwards ? time + 1 : time - 1;
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t here = at + row, length = lengths.typed_data()[first + row];
        float* slope = slopes->typed_data() + here * 4 * width;
        if (time < length) {
          // What is beyond a sequence is 0, and the state there still the first one.
          const float* before =
              step > 0 && earlier < length
                  ? outputs.typed_data() + (earlier * size.batch + first + row) * width
                  : hidden.typed_data() + (first + row) * width;
          GruRowBack(kept.typed_data() + here * 4 * width, before, arrived + row * width,
                     cotangent.typed_data() + here * width, slope, toward + row * gates,
                     straight + row * width, width);
        } else {
          std::memset(slope, 0, 4 * bytes);
          std::memset(toward + row * gates, 0, 3 * bytes);
          std::memcpy(straight + row * width, arrived + row * width, bytes);
        }
      }
      Product(rows, gates, width, toward, gates, packed.get(), straight, width,
              arrived, width);
    }
  });
  return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(mycel_lstm_forward, LstmForward,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Attr<bool>("backwards")
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Counts>()
                                  .Ret<Array>()
                                  .Ret<Array>()
                                  .Ret<Array>()
                                  .Ret<Array>()
                                  .Ret<Array>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(mycel_lstm_reverse, LstmReverse,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Attr<bool>("backwards")
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Counts>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Ret<Array>()
                                  .Ret<Array>()
                                  .Ret<Array>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(mycel_gru_forward, GruForward,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Attr<bool>("backwards")
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Counts>()
                                  .Ret<Array>()
                                  .Ret<Array>()
                                  .Ret<Array>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(mycel_gru_reverse, GruReverse,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Attr<bool>("backwards")
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Counts>()
                                  .Arg<Array>()
                                  .Ret<Array>()
                                  .Ret<Array>());
