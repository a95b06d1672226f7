// SPDX-License-Identifier: Apache-2.0
// Convolutions by channel (depthwise), their gradients of x and of the weight, for XLA on a CPU.
//
// XLA's loops read a picture anew for each element of the kernel, and add up the gradient of the
// weight without vectors. Here each thread takes some pictures. One is copied to where zeros lie in
// front of it and behind it, but none between its rows: many rows are one run of vectors, however
// short they are. What an element of the kernel meets lies at one distance from all places; where
// that leads beyond the end of a row, a mask leaves it out.

#include "windows.h"

namespace {

// Vectors that are summed side by side.
constexpr int kSide = 4;
// About so many floats of a run stay in the nearest cache, with their masks.
constexpr int64_t kRun = 1024;
// Elements of a column of the kernel whose gradients are added up side by side.
constexpr int kTaps = 8;
// About so many products are added up in the lanes of a vector, before their sums are in doubles.
constexpr int64_t kFloats = 1024 * kWidth;

// An element of the kernel: its number, and how far from a place of a run lies what it meets.
struct Tap {
  int64_t element, away;
};

// The elements of a column of the kernel that meet something.
using Taps = std::vector<Tap>;

// How pictures lie in memory, for runs over the places of the windows, or of the input (`back`).
struct Runs {
  Runs(const Window& window, bool back)
      : rows(window.rows),
        columns(window.columns),
        back(back),
        pitch(std::max(columns.input, (columns.output - 1) * columns.stride + 1)),
        count(back ? rows.input : rows.output),
        each(rows.stride > 1 ? 1 : std::min(count, std::max<int64_t>(1, kRun / pitch))),
        floats(each * pitch) {
    const int64_t laid = back ? rows.output : rows.input, reach = (rows.kernel - 1) * rows.dilation;
    // The farthest that is met above the first row and below the last one, and to a side.
    const int64_t above = std::max<int64_t>(0, back ? reach - rows.before : rows.before);
    const int64_t last = back ? (rows.input - 1 + rows.before) / rows.stride
                              : (rows.output - 1) * rows.stride + reach - rows.before;
    const int64_t aside =
        std::max(columns.before, (columns.kernel - 1) * columns.dilation - columns.before);
    front = above * pitch + std::max<int64_t>(0, aside);
    size = front + std::max(laid, last + 1) * pitch + std::max<int64_t>(0, aside) + kSlack;
    for (int64_t across = 0; across < columns.kernel; ++across) masks.push_back(Mask(across));
    met.resize(back ? rows.stride : 1);
    for (size_t phase = 0; phase < met.size(); ++phase) Meet(phase);
  }

  int64_t Ahead(const Axis& axis, int64_t element) const {
    return element * axis.dilation - axis.before;
  }

  // Which places of a run meet something with a column of the kernel; empty if all do.
  std::vector<int32_t> Mask(int64_t across) const {
    std::vector<int32_t> mask(floats + kSlack, 0);
    bool all = true;
    for (int64_t at = 0; at < floats; ++at) {
      const bool meets = Meets(at % pitch, Ahead(columns, across));
      mask[at] = meets ? -1 : 0;
      all = all && meets;
    }
    if (all) mask.clear();
    return mask;
  }

  // What rows with a remainder by the stride meet.
  void Meet(int64_t phase) {
    for (int64_t across = 0; across < columns.kernel; ++across) {
      const int64_t ahead = Ahead(columns, across);
      Taps taps;
      for (int64_t down = 0; down < rows.kernel; ++down) {
        const int64_t element = down * columns.kernel + across, below = Ahead(rows, down);
        if (!back) {
          taps.push_back({element, below * pitch + ahead});
        } else if ((phase - below) % rows.stride == 0) {
          taps.push_back({element, (phase - below) / rows.stride * pitch - ahead});
        }
      }
      met[phase].push_back(std::move(taps));
    }
  }

  // Whether a place of a row meets something with an element of the kernel so far ahead.
  bool Meets(int64_t place, int64_t ahead) const {
    if (!back) {
      const int64_t met = place + ahead;
      return place % columns.stride == 0 && place / columns.stride < columns.output && met >= 0 &&
             met < columns.input;
    }
    const int64_t from = place - ahead;
    return from >= 0 && from % columns.stride == 0 && from / columns.stride < columns.output;
  }

  // Where a row lies, from which `away` counts, and what it meets.
  int64_t Place(int64_t row) const {
    return front + (back ? row / rows.stride : row * rows.stride) * pitch;
  }
  const std::vector<Taps>& At(int64_t row) const { return met[back ? row % rows.stride : 0]; }
  const int32_t* MaskOf(int64_t across) const {
    return masks[across].empty() ? nullptr : masks[across].data();
  }

  Axis rows, columns;
  bool back;
  int64_t pitch;
  int64_t count, each;  // rows, and those of a run
  int64_t floats;       // of a run
  std::vector<std::vector<int32_t>> masks;  // by column of the kernel
  std::vector<std::vector<Taps>> met;       // by remainder, and column
  int64_t front, size;  // floats in front of a picture, and in all
};

// Lays a picture of the input.
void LayInput(const Runs& runs, const float* x, float* laid) {
  const int64_t width = runs.columns.input;
  if (width == runs.pitch) return Copy(laid + runs.front, x, runs.rows.input * width);
  for (int64_t row = 0; row < runs.rows.input; ++row) {
    Copy(laid + runs.front + row * runs.pitch, x + row * width, width);
  }
}

// Lays a picture of the output: its columns lie where their windows begin.
void LayOutput(const Runs& runs, const float* y, float* laid) {
  const int64_t width = runs.columns.output, stride = runs.columns.stride;
  if (width == runs.pitch) return Copy(laid, y, runs.rows.output * width);
  for (int64_t row = 0; row < runs.rows.output; ++row, laid += runs.pitch, y += width) {
    if (stride == 1) Copy(laid, y, width);
    else if (stride == 2) Move(laid, y, width, 2, 1);
    else Move(laid, y, width, stride, 1);
  }
}

// Pictures that are laid side by side, each with factors of its own.
struct Copies {
  int64_t count, apart, kernel;
};

// The sums over all that is met from a place on, in vectors side by side.
template <int side>
inline void Sum(const Runs& runs, const std::vector<Taps>& columns, const Copies& copies,
                const float* factors, const float* from, int64_t at, Vector* sums) {
  for (int n = 0; n < side; ++n) sums[n] = Vector{};
  for (size_t across = 0; across < columns.size(); ++across) {
    Vector parts[side] = {};
    for (int64_t copy = 0; copy < copies.count; ++copy) {
      for (const Tap& tap : columns[across]) {
        const float factor = factors[copy * copies.kernel + tap.element];
        const float* met = from + copy * copies.apart + tap.away + at;
#pragma GCC unroll 4
        for (int n = 0; n < side; ++n) parts[n] += factor * Load(met + n * kWidth);
      }
    }
    const int32_t* mask = runs.MaskOf(across);
#pragma GCC unroll 4
    for (int n = 0; n < side; ++n) {
      sums[n] += mask ? Masked(parts[n], mask + at + n * kWidth) : parts[n];
    }
  }
}

// Computes a picture from those that are laid.
void Convolve(const Runs& runs, const Copies& copies, const float* factors, const float* laid,
              float* to, float* own) {
  const int64_t width = runs.back ? runs.columns.input : runs.columns.output;
  const int64_t step = runs.back ? 1 : runs.columns.stride;
  for (int64_t row = 0; row < runs.count; row += runs.each) {
    const int64_t rows = std::min(runs.each, runs.count - row), count = rows * runs.pitch;
    const std::vector<Taps>& columns = runs.At(row);
    const float* from = laid + runs.Place(row);
    float* sums = width == runs.pitch ? to + row * width : own;
    Vector some[kSide];
    int64_t at = 0;
    for (; at + kSide * kWidth <= count; at += kSide * kWidth) {
      Sum<kSide>(runs, columns, copies, factors, from, at, some);
      for (int n = 0; n < kSide; ++n) Store(sums + at + n * kWidth, some[n]);
    }
    for (; at < count; at += kWidth) {
      Sum<1>(runs, columns, copies, factors, from, at, some);
      Store(sums + at, *some, count - at);
    }
    for (int64_t down = 0; sums == own && down < rows; ++down) {
      float* line = to + (row + down) * width;
      const float* from = own + down * runs.pitch;
      if (step == 1) Copy(line, from, width);
      else if (step == 2) Move(line, from, width, 1, 2);
      else Move(line, from, width, 1, step);
    }
  }
}

ffi::Error Forward(ffi::ThreadPool pool, ffi::Span<const int64_t> sizes, Array x, Array weight,
                   Result y) {
  const Running running;
  const Window window(x.dimensions(), weight.dimensions(), y->dimensions(), sizes);
  const int64_t multiplier = window.outputs / window.channels;
  const Runs runs(window, false);
  const auto run = [&](int64_t first, int64_t end, float* laid) {
    for (int64_t picture = first; picture < end; ++picture) {
      LayInput(runs, x.typed_data() + picture * window.Input(), laid);
      for (int64_t copy = 0; copy < multiplier; ++copy) {
        const int64_t output = picture % window.channels * multiplier + copy;
        Convolve(runs, {1, 0, 0}, weight.typed_data() + output * window.Kernel(), laid,
                 y->typed_data() + (picture * multiplier + copy) * window.Output(),
                 laid + runs.size);
      }
    }
  };
  return WithMemory(pool, window.images * window.channels, runs.size + runs.floats, run);
}

ffi::Error GradientOfX(ffi::ThreadPool pool, ffi::Span<const int64_t> sizes, Array cotangent,
                       Array weight, Result gradient) {
  const Running running;
  const Window window(gradient->dimensions(), weight.dimensions(), cotangent.dimensions(), sizes);
  const int64_t multiplier = window.outputs / window.channels;
  const Runs runs(window, true);
  const auto run = [&](int64_t first, int64_t end, float* laid) {
    for (int64_t picture = first; picture < end; ++picture) {
      for (int64_t copy = 0; copy < multiplier; ++copy) {
        const int64_t from = (picture * multiplier + copy) * window.Output();
        LayOutput(runs, cotangent.typed_data() + from, laid + copy * runs.size + runs.front);
      }
      const int64_t output = picture % window.channels * multiplier;
      Convolve(runs, {multiplier, runs.size, window.Kernel()},
               weight.typed_data() + output * window.Kernel(), laid,
               gradient->typed_data() + picture * window.Input(), laid + multiplier * runs.size);
    }
  };
  return WithMemory(pool, window.images * window.channels, multiplier * runs.size + runs.floats,
                    run);
}

// Adds to `sums` the products of a run of slopes with what it meets at each tap.
template <int count>
void Multiply(int64_t taps, const float* slopes, const float* const* met, const int32_t* mask,
              int64_t length, Vector* sums) {
  if constexpr (count > 0) {
    if (taps != count) return Multiply<count - 1>(taps, slopes, met, mask, length, sums);
    Vector parts[count];
    for (int tap = 0; tap < count; ++tap) parts[tap] = sums[tap];
    const auto add = [&](int64_t at, int64_t some) {
      const Vector slope = Load(slopes + at, some);
#pragma GCC unroll 8
      for (int tap = 0; tap < count; ++tap) {
        const Vector value = Load(met[tap] + at, some);
        parts[tap] += slope * (mask ? Masked(value, mask + at) : value);
      }
    };
    int64_t at = 0;
    for (; at + kWidth <= length; at += kWidth) add(at, kWidth);
    if (at < length) add(at, length - at);
    for (int tap = 0; tap < count; ++tap) sums[tap] = parts[tap];
  }
}

ffi::Error GradientOfWeight(ffi::ThreadPool pool, ffi::Span<const int64_t> sizes, Array x,
                            Array cotangent, Result gradient) {
  const Running running;
  const Window window(x.dimensions(), gradient->dimensions(), cotangent.dimensions(), sizes);
  const int64_t multiplier = window.outputs / window.channels, kernel = window.Kernel();
  const Runs runs(window, false);
  const int64_t high = window.rows.kernel, wide = window.columns.kernel;
  const int64_t places = runs.count * runs.pitch;
  const auto run = [&](int64_t first, int64_t end, float* laid) {
    float* own = laid + runs.size;
    std::vector<const float*> met(high);
    std::vector<Vector> sums(kernel);
    std::vector<double> totals(kernel);
    const auto add_up = [&] {
      for (int64_t element = 0; element < kernel; ++element) {
        totals[element] += Total(sums[element]);
        sums[element] = Vector{};
      }
    };
    for (int64_t output = first; output < end; ++output) {
      std::fill(totals.begin(), totals.end(), 0);
      int64_t added = 0;
      for (int64_t image = 0; image < window.images; ++image) {
        const int64_t picture = image * window.channels + output / multiplier;
        LayInput(runs, x.typed_data() + picture * window.Input(), laid);
        const float* slopes = cotangent.typed_data() +
                              (image * window.outputs + output) * window.Output();
        if (window.columns.output < runs.pitch) {
          LayOutput(runs, slopes, own);
          slopes = own;
        }
        for (int64_t row = 0; row < runs.count; row += runs.each) {
          const int64_t length = std::min(runs.each, runs.count - row) * runs.pitch;
          for (int64_t n = 0; n < wide; ++n) {
            const Taps& taps = runs.At(row)[n];
            for (int64_t tap = 0; tap < high; ++tap) {
              met[tap] = laid + runs.Place(row) + taps[tap].away;
            }
            for (int64_t tap = 0; tap < high; tap += kTaps) {
              Multiply<kTaps>(std::min<int64_t>(kTaps, high - tap), slopes + row * runs.pitch,
                              met.data() + tap, runs.MaskOf(n), length,
                              sums.data() + n * high + tap);
            }
          }
        }
        added += places;
        if (added >= kFloats) add_up(), added = 0;
      }
      add_up();
      float* to = gradient->typed_data() + output * kernel;
      for (int64_t n = 0; n < wide; ++n) {
        for (int64_t element = 0; element < high; ++element) {
          to[element * wide + n] = totals[n * high + element];
        }
      }
    }
  };
  return WithMemory(pool, window.outputs, runs.size + places, run);
}

}  // namespace

MYCEL_CONVOLUTION(mycel_depthwise_forward, Forward);
MYCEL_CONVOLUTION(mycel_depthwise_gradient_of_x, GradientOfX);
MYCEL_CONVOLUTION(mycel_depthwise_gradient_of_weight, GradientOfWeight);
