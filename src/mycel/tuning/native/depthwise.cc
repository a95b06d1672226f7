// SPDX-License-Identifier: Apache-2.0
// Convolutions by channel (depthwise), their gradients of x and of the weight, for XLA on a CPU.
//
// XLA's loops read a picture anew for each element of the kernel, and add up the gradient of the
// weight without vectors. Here each thread takes some pictures.

#include <cmath>

#include "windows.h"

namespace {

// Vectors that are summed side by side.
constexpr int kSide = 4;
// About so many sums stay in the cache until they are copied to where they belong.
constexpr int64_t kRun = 2048;
// Elements of a kernel whose gradients are added up side by side.
constexpr int kTaps = 9;

// An element of a kernel: a factor, and what it meets.
struct Tap {
  float factor;
  const float* from;
};

// The sums over all taps, for `count` places from `first` on.
void Sum(const std::vector<Tap>& taps, int64_t first, int64_t count, float* to) {
  int64_t at = 0;
  for (; at + kSide * kWidth <= count; at += kSide * kWidth) {
    Vector sums[kSide] = {};
    for (const Tap& tap : taps) {
      const float* from = tap.from + first + at;
#pragma GCC unroll 4
      for (int side = 0; side < kSide; ++side) sums[side] += tap.factor * Load(from + side * kWidth);
    }
    for (int side = 0; side < kSide; ++side) Store(to + at + side * kWidth, sums[side]);
  }
  for (; at < count; at += kWidth) {
    Vector sum = {};
    for (const Tap& tap : taps) sum += tap.factor * Load(tap.from + first + at);
    Store(to + at, sum);
  }
}

// How many rows a run takes, and the floats of its sums.
struct Runs {
  Runs(const Layout& layout, int64_t height)
      : rows(std::max<int64_t>(1, std::min(height, kRun / layout.pitch))),
        floats(rows * layout.pitch + kWidth) {}
  int64_t rows, floats;
};

ffi::Error Forward(ffi::ThreadPool pool, ffi::Span<const int64_t> sizes, Array x, Array weight,
                   Result y) {
  const Running running;
  const Window window(x.dimensions(), weight.dimensions(), y->dimensions(), sizes);
  const int64_t height = window.rows.output, width = window.columns.output;
  const int64_t multiplier = window.outputs / window.channels;
  const Layout layout = InputLayout(window, height);
  const Runs runs(layout, height);
  const std::vector<Columns> columns = ByRemainder(window.columns, layout.pitch);
  const std::vector<int64_t> met = Met(window, layout, layout.Size());
  const int64_t total = window.Parts() * layout.Size() + layout.pitch + kSlack;
  const auto run = [&](int64_t first, int64_t end, float* laid) {
    float* sums = laid + total;
    std::vector<Tap> taps(met.size());
    for (int64_t picture = first; picture < end; ++picture) {
      LayInput(window, layout, columns, 0, x.typed_data() + picture * window.Input(), laid,
               layout.Size());
      for (int64_t copy = 0; copy < multiplier; ++copy) {
        const int64_t output = picture % window.channels * multiplier + copy;
        const float* factors = weight.typed_data() + output * window.Kernel();
        for (size_t n = 0; n < met.size(); ++n) taps[n] = {factors[n], laid + met[n]};
        float* to = y->typed_data() + (picture * multiplier + copy) * window.Output();
        for (int64_t row = 0; row < height; row += runs.rows) {
          const int64_t rows = std::min(runs.rows, height - row);
          Sum(taps, row * layout.pitch, rows * layout.pitch, sums);
          for (int64_t down = 0; down < rows; ++down) {
            Copy(to + (row + down) * width, sums + down * layout.pitch, width);
          }
        }
      }
    }
  };
  return WithMemory(pool, window.images * window.channels, total + runs.floats, run);
}

ffi::Error GradientOfX(ffi::ThreadPool pool, ffi::Span<const int64_t> sizes, Array cotangent,
                       Array weight, Result gradient) {
  const Running running;
  const Window window(gradient->dimensions(), weight.dimensions(), cotangent.dimensions(), sizes);
  const Axis &rows = window.rows, &columns = window.columns;
  const int64_t height = rows.Places(), multiplier = window.outputs / window.channels;
  const Layout layout{rows.Most() + height, columns.Most() + columns.Places()};
  const Runs runs(layout, height);
  const std::vector<Columns> places = ByRemainder(columns, layout.pitch, columns.First());
  const std::vector<Meeting> met = MetBack(window, layout);
  const int64_t total = multiplier * layout.Size() + layout.pitch + kSlack;
  const auto run = [&](int64_t first, int64_t end, float* laid) {
    float* sums = laid + total;
    std::vector<Tap> taps;
    for (int64_t picture = first; picture < end; ++picture) {
      for (int64_t copy = 0; copy < multiplier; ++copy) {
        const int64_t from = (picture * multiplier + copy) * window.Output();
        LayOutput(window, layout, rows.First() - rows.Most(), columns.Most() - columns.First(),
                  cotangent.typed_data() + from, laid + copy * layout.Size());
      }
      const float* factors =
          weight.typed_data() + picture % window.channels * multiplier * window.Kernel();
      float* to = gradient->typed_data() + picture * window.Input();
      for (size_t part = 0; part < met.size(); ++part) {
        taps.clear();
        for (int64_t copy = 0; copy < multiplier; ++copy) {
          for (size_t n = 0; n < met[part].elements.size(); ++n) {
            taps.push_back({factors[copy * window.Kernel() + met[part].elements[n]],
                            laid + copy * layout.Size() + met[part].places[n]});
          }
        }
        for (int64_t start = 0; start < height; start += runs.rows) {
          const int64_t count = std::min(runs.rows, height - start);
          Sum(taps, start * layout.pitch, count * layout.pitch, sums);
          for (int64_t down = 0; down < count; ++down) {
            const int64_t below = part / columns.stride;
            const int64_t row = (rows.First() + start + down) * rows.stride + below - rows.before;
            if (row < 0 || row >= rows.input) continue;
            places[part % columns.stride].Spread(to + row * columns.input,
                                                 sums + down * layout.pitch);
          }
        }
      }
    }
  };
  return WithMemory(pool, window.images * window.channels, total + runs.floats, run);
}

// Adds to `sums` the products of what lies at `y` with what lies at each of some places of `x`.
template <int count, bool masked>
void Multiply(int64_t taps, const float* y, const float* const* x, const int32_t* mask,
              int64_t length, double* sums) {
  if constexpr (count > 0) {
    if (taps != count) return Multiply<count - 1, masked>(taps, y, x, mask, length, sums);
    Vector parts[count] = {};
    for (int64_t at = 0; at < length; at += kWidth) {
      const Vector slope = Load(y + at);
#pragma GCC unroll 16
      for (int tap = 0; tap < count; ++tap) {
        const Vector met = Load(x[tap] + at);
        parts[tap] += slope * (masked ? Masked(met, mask + at) : met);
      }
    }
    for (int tap = 0; tap < count; ++tap) sums[tap] += Total(parts[tap]);
  }
}

ffi::Error GradientOfWeight(ffi::ThreadPool pool, ffi::Span<const int64_t> sizes, Array x,
                            Array cotangent, Result gradient) {
  const Running running;
  const Window window(x.dimensions(), gradient->dimensions(), cotangent.dimensions(), sizes);
  const int64_t multiplier = window.outputs / window.channels, kernel = window.Kernel();
  const Layout layout = InputLayout(window, window.rows.output);
  const Layout slopes{window.rows.output, layout.pitch};
  const std::vector<Columns> columns = ByRemainder(window.columns, layout.pitch);
  const std::vector<int64_t> places = Met(window, layout, layout.Size());
  const std::vector<int32_t> mask = Between(window, slopes);
  const int64_t total = window.Parts() * layout.Size() + layout.pitch + kSlack;
  const auto run = [&](int64_t first, int64_t end, float* laid) {
    float* y = laid + total;
    std::vector<const float*> met;
    for (int64_t place : places) met.push_back(laid + place);
    std::vector<double> sums(kernel);
    const auto add = [&](int64_t output, auto multiply) {
      std::fill(sums.begin(), sums.end(), 0);
      for (int64_t image = 0; image < window.images; ++image) {
        const int64_t picture = image * window.channels + output / multiplier;
        LayInput(window, layout, columns, 0, x.typed_data() + picture * window.Input(), laid,
                 layout.Size());
        const int64_t from = (image * window.outputs + output) * window.Output();
        LayOutput(window, slopes, 0, 0, cotangent.typed_data() + from, y);
        for (int64_t tap = 0; tap < kernel; tap += kTaps) {
          multiply(std::min<int64_t>(kTaps, kernel - tap), y, met.data() + tap, mask.data(),
                   slopes.Size(), sums.data() + tap);
        }
      }
    };
    for (int64_t output = first; output < end; ++output) {
      add(output, Multiply<kTaps, false>);
      const auto finite = [](double sum) { return std::isfinite(sum); };
      // Between two rows 0 was multiplied with what no window meets, infinities too.
      if (!std::all_of(sums.begin(), sums.end(), finite)) add(output, Multiply<kTaps, true>);
      std::copy(sums.begin(), sums.end(), gradient->typed_data() + output * kernel);
    }
  };
  return WithMemory(pool, window.outputs, total + slopes.Size() + kSlack, run);
}

}  // namespace

MYCEL_CONVOLUTION(mycel_depthwise_forward, Forward);
MYCEL_CONVOLUTION(mycel_depthwise_gradient_of_x, GradientOfX);
MYCEL_CONVOLUTION(mycel_depthwise_gradient_of_weight, GradientOfWeight);
