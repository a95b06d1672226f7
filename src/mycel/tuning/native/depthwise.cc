// SPDX-License-Identifier: Apache-2.0
// Convolutions by channel (depthwise), their gradients of x and of the weight, for XLA on a CPU.
//
// Arrays are [batch, channels, height, width], weights [channels * multiplier, 1, height, width].
// XLA's loops read a picture anew for each element of the kernel, and add up the gradient of the
// weight without vectors. Here each thread takes some pictures, one channel of one image each. It is
// laid out with zeros around it and its places sorted by their remainder by the stride, so that what
// an element of the kernel meets lies in one piece, row after row: all rows are one run of vectors.
// What such a run computes between two rows is dropped.

#include "common.h"

#include <cmath>
#include <vector>

namespace {

// Vectors that are summed side by side.
constexpr int kSide = 4;
// About so many sums stay in the cache until they are copied to where they belong.
constexpr int64_t kRun = 2048;
// Elements of a kernel whose gradients are added up side by side.
constexpr int kTaps = 9;

// A dimension of space.
struct Axis {
  int64_t input, kernel, output, stride, dilation, before;

  int64_t Remainder(int64_t element) const { return element * dilation % stride; }
  int64_t Steps(int64_t element) const { return element * dilation / stride; }
  int64_t Most() const { return Steps(kernel - 1); }
  // Places of the padded input with one remainder by the stride, up to the last of the input.
  int64_t Places() const { return (before + input - 1) / stride + 1; }
};

struct Window {
  Window(const Array::Dimensions& x, const Array::Dimensions& weight, const Array::Dimensions& y,
         ffi::Span<const int64_t> sizes)
      : rows{x[2], weight[2], y[2], sizes[0], sizes[2], sizes[4]},
        columns{x[3], weight[3], y[3], sizes[1], sizes[3], sizes[5]},
        images(x[0]),
        channels(x[1]),
        multiplier(weight[0] / x[1]) {}

  int64_t Input() const { return rows.input * columns.input; }
  int64_t Kernel() const { return rows.kernel * columns.kernel; }
  int64_t Output() const { return rows.output * columns.output; }

  Axis rows, columns;
  int64_t images, channels, multiplier;
};

// How pictures lie in a thread's memory; `slack` zeros stand behind, for the last run.
struct Layout {
  Layout(int64_t height, int64_t pitch, int64_t pictures)
      : height(height), pitch(pitch), size(height * pitch) {
    total = size * pictures + pitch + kSide * kWidth;
  }
  int64_t height, pitch, size, total;
};

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

// Copies a row: short ones are not worth a call.
inline void Copy(float* to, const float* from, int64_t count) {
  if (count > 8 * kWidth) {
    std::memcpy(to, from, 4 * count);
    return;
  }
  if (count >= kWidth) {
    for (int64_t at = 0; at < count - kWidth; at += kWidth) Store(to + at, Load(from + at));
    Store(to + count - kWidth, Load(from + count - kWidth));
    return;
  }
  int64_t at = 0;
  for (; at + 4 <= count; at += 4) std::memcpy(to + at, from + at, 16);
  for (; at < count; ++at) to[at] = from[at];
}

// Every `step`-th element, which may be known when this is compiled.
inline void Gather(float* to, const float* from, int64_t count, int64_t step) {
  for (int64_t at = 0; at < count; ++at) to[at] = from[at * step];
}

inline void Scatter(float* to, const float* from, int64_t count, int64_t step) {
  for (int64_t at = 0; at < count; ++at) to[at * step] = from[at];
}

// The columns of the input with one remainder by the stride: the first one, where it lies in a
// layout, and how many there are.
struct Columns {
  Columns(const Axis& axis, int64_t remainder, int64_t pitch) {
    first = ((remainder - axis.before) % axis.stride + axis.stride) % axis.stride;
    place = (first + axis.before) / axis.stride;
    const int64_t all = (axis.input - first + axis.stride - 1) / axis.stride;
    count = std::max<int64_t>(0, std::min(all, pitch - place));
  }
  int64_t first, place, count;
};

std::vector<Columns> ByRemainder(const Axis& axis, int64_t pitch) {
  std::vector<Columns> result;
  for (int64_t n = 0; n < axis.stride; ++n) result.emplace_back(axis, n, pitch);
  return result;
}

// A picture of the input, a layout for each remainder by the strides.
void LayInput(const Window& window, const Layout& layout, const std::vector<Columns>& columns,
              const float* x, float* laid) {
  const int64_t stride = window.columns.stride;
  int64_t below = window.rows.before % window.rows.stride;
  int64_t down = window.rows.before / window.rows.stride;
  for (int64_t row = 0; row < window.rows.input && down < layout.height; ++row) {
    float* line = laid + below * stride * layout.size + down * layout.pitch;
    const float* from = x + row * window.columns.input;
    for (int64_t remainder = 0; remainder < stride; ++remainder) {
      const Columns& some = columns[remainder];
      float* to = line + remainder * layout.size + some.place;
      if (stride == 1) {
        Copy(to, from, some.count);
      } else if (stride == 2) {
        Gather(to, from + some.first, some.count, 2);
      } else {
        Gather(to, from + some.first, some.count, stride);
      }
    }
    if (++below == window.rows.stride) below = 0, ++down;
  }
}

// A picture of the output, `down` and `right` of the layout's edge; what does not fit is left out.
void LayOutput(const Window& window, const Layout& layout, const float* y, int64_t down,
               int64_t right, float* laid) {
  const int64_t height = std::min(window.rows.output, layout.height - down);
  const int64_t width = std::min(window.columns.output, layout.pitch - right);
  for (int64_t row = 0; row < height; ++row) {
    Copy(laid + (down + row) * layout.pitch + right, y + row * window.columns.output, width);
  }
}

// Where the input lies that each element of the kernel meets first.
std::vector<int64_t> Met(const Window& window, const Layout& layout) {
  const Axis &rows = window.rows, &columns = window.columns;
  std::vector<int64_t> result;
  for (int64_t row = 0; row < rows.kernel; ++row) {
    for (int64_t column = 0; column < columns.kernel; ++column) {
      const int64_t part = rows.Remainder(row) * columns.stride + columns.Remainder(column);
      result.push_back(part * layout.size + rows.Steps(row) * layout.pitch + columns.Steps(column));
    }
  }
  return result;
}

Layout InputLayout(const Window& window) {
  return Layout(window.rows.Most() + window.rows.output,
                window.columns.Most() + window.columns.output,
                window.rows.stride * window.columns.stride);
}

// Calls `run(first, end, memory)` for parts of `count`, each with zeroed memory of its own.
template <typename Run>
ffi::Error WithMemory(ffi::ThreadPool& pool, int64_t count, int64_t floats, Run run) {
  const int64_t most = pool.num_threads() < 2 ? 1 : 2 * pool.num_threads();
  const int64_t each = (count + most - 1) / most, parts = (count + each - 1) / each;
  const Memory memory = Allocate(parts * floats);
  if (!memory) return NoMemory();
  InParts(pool, parts, [&](int64_t part) {
    float* own = memory.get() + part * floats;
    std::memset(own, 0, 4 * floats);
    run(part * each, std::min(count, (part + 1) * each), own);
  });
  return ffi::Error::Success();
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
  const Window window(x.dimensions(), weight.dimensions(), y->dimensions(), sizes);
  const Layout layout = InputLayout(window);
  const int64_t height = window.rows.output, width = window.columns.output;
  const Runs runs(layout, height);
  const std::vector<Columns> columns = ByRemainder(window.columns, layout.pitch);
  const std::vector<int64_t> met = Met(window, layout);
  const auto run = [&](int64_t first, int64_t end, float* laid) {
    float* sums = laid + layout.total;
    std::vector<Tap> taps(met.size());
    for (int64_t picture = first; picture < end; ++picture) {
      LayInput(window, layout, columns, x.typed_data() + picture * window.Input(), laid);
      for (int64_t copy = 0; copy < window.multiplier; ++copy) {
        const int64_t output = picture % window.channels * window.multiplier + copy;
        const float* factors = weight.typed_data() + output * window.Kernel();
        for (size_t n = 0; n < met.size(); ++n) taps[n] = {factors[n], laid + met[n]};
        float* to = y->typed_data() + (picture * window.multiplier + copy) * window.Output();
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
  return WithMemory(pool, window.images * window.channels, layout.total + runs.floats, run);
}

ffi::Error GradientOfX(ffi::ThreadPool pool, ffi::Span<const int64_t> sizes, Array cotangent,
                       Array weight, Result gradient) {
  const Window window(gradient->dimensions(), weight.dimensions(), cotangent.dimensions(), sizes);
  const Axis &rows = window.rows, &columns = window.columns;
  const int64_t height = rows.Places();
  const Layout layout(rows.Most() + height, columns.Most() + columns.Places(), window.multiplier);
  const Runs runs(layout, height);
  const std::vector<Columns> places = ByRemainder(columns, layout.pitch);
  // For each remainder by the strides, the elements of kernels, and where what they meet lies.
  std::vector<std::vector<std::pair<int64_t, int64_t>>> met(rows.stride * columns.stride);
  for (int64_t n = 0; n < window.multiplier * window.Kernel(); ++n) {
    const int64_t element = n % window.Kernel();
    const int64_t row = element / columns.kernel, column = element % columns.kernel;
    met[rows.Remainder(row) * columns.stride + columns.Remainder(column)].emplace_back(
        n, n / window.Kernel() * layout.size + (rows.Most() - rows.Steps(row)) * layout.pitch +
               columns.Most() - columns.Steps(column));
  }
  const auto run = [&](int64_t first, int64_t end, float* laid) {
    float* sums = laid + layout.total;
    std::vector<Tap> taps;
    for (int64_t picture = first; picture < end; ++picture) {
      for (int64_t copy = 0; copy < window.multiplier; ++copy) {
        const int64_t from = (picture * window.multiplier + copy) * window.Output();
        LayOutput(window, layout, cotangent.typed_data() + from, rows.Most(), columns.Most(),
                  laid + copy * layout.size);
      }
      const float* factors = weight.typed_data() +
                             picture % window.channels * window.multiplier * window.Kernel();
      float* to = gradient->typed_data() + picture * window.Input();
      for (size_t part = 0; part < met.size(); ++part) {
        const int64_t below = part / columns.stride;
        const Columns& some = places[part % columns.stride];
        taps.clear();
        for (const auto& [n, place] : met[part]) taps.push_back({factors[n], laid + place});
        for (int64_t start = 0; start < height; start += runs.rows) {
          const int64_t count = std::min(runs.rows, height - start);
          Sum(taps, start * layout.pitch, count * layout.pitch, sums);
          for (int64_t down = 0; down < count; ++down) {
            const int64_t row = (start + down) * rows.stride + below - rows.before;
            if (row < 0 || row >= rows.input) continue;
            const float* line = sums + down * layout.pitch + some.place;
            float* target = to + row * columns.input + some.first;
            if (columns.stride == 1) {
              Copy(target, line, some.count);
            } else if (columns.stride == 2) {
              Scatter(target, line, some.count, 2);
            } else {
              Scatter(target, line, some.count, columns.stride);
            }
          }
        }
      }
    }
  };
  return WithMemory(pool, window.images * window.channels, layout.total + runs.floats, run);
}

// Adds to `sums` the products of what lies at `y` with what lies at each of some places of `x`.
template <int count>
void Multiply(int64_t taps, const float* y, const float* const* x, int64_t length, double* sums) {
  if constexpr (count > 0) {
    if (taps != count) return Multiply<count - 1>(taps, y, x, length, sums);
    Vector parts[count] = {};
    for (int64_t at = 0; at < length; at += kWidth) {
      const Vector slope = Load(y + at);
#pragma GCC unroll 16
      for (int tap = 0; tap < count; ++tap) parts[tap] += slope * Load(x[tap] + at);
    }
    for (int tap = 0; tap < count; ++tap) {
      double sum = 0;
      for (int lane = 0; lane < kWidth; ++lane) sum += parts[tap][lane];
      sums[tap] += sum;
    }
  }
}

ffi::Error GradientOfWeight(ffi::ThreadPool pool, ffi::Span<const int64_t> sizes, Array x,
                            Array cotangent, Result gradient) {
  const Window window(x.dimensions(), gradient->dimensions(), cotangent.dimensions(), sizes);
  const Layout layout = InputLayout(window);
  const int64_t height = window.rows.output, width = window.columns.output;
  const Layout slopes(height, layout.pitch, 1);
  const int64_t kernel = window.Kernel();
  const std::vector<Columns> columns = ByRemainder(window.columns, layout.pitch);
  const std::vector<int64_t> places = Met(window, layout);
  const auto run = [&](int64_t first, int64_t end, float* laid) {
    float* y = laid + layout.total;
    std::vector<const float*> met;
    for (int64_t place : places) met.push_back(laid + place);
    const auto lay = [&](int64_t image, int64_t output) {
      const int64_t channel = output / window.multiplier;
      const int64_t outputs = window.channels * window.multiplier;
      LayInput(window, layout, columns,
               x.typed_data() + (image * window.channels + channel) * window.Input(), laid);
      LayOutput(window, slopes,
                cotangent.typed_data() + (image * outputs + output) * window.Output(), 0, 0, y);
    };
    for (int64_t output = first; output < end; ++output) {
      std::vector<double> sums(kernel);
      for (int64_t image = 0; image < window.images; ++image) {
        lay(image, output);
        for (int64_t tap = 0; tap < kernel; tap += kTaps) {
          Multiply<kTaps>(std::min<int64_t>(kTaps, kernel - tap), y, met.data() + tap,
                          height * layout.pitch, sums.data() + tap);
        }
      }
      const auto finite = [](double sum) { return std::isfinite(sum); };
      if (!std::all_of(sums.begin(), sums.end(), finite)) {
        // Between two rows 0 was multiplied with what an element does not meet: with infinity too.
        std::fill(sums.begin(), sums.end(), 0);
        for (int64_t image = 0; image < window.images; ++image) {
          lay(image, output);
          for (int64_t at = 0; at < height * layout.pitch; ++at) {
            if (at % layout.pitch >= width) continue;
            for (int64_t tap = 0; tap < kernel; ++tap) sums[tap] += y[at] * met[tap][at];
          }
        }
      }
      std::copy(sums.begin(), sums.end(), gradient->typed_data() + output * kernel);
    }
  };
  return WithMemory(pool, window.channels * window.multiplier, layout.total + slopes.total, run);
}

}  // namespace

#define MYCEL_DEPTHWISE(name, function)                         \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(mycel_depthwise_##name, function, \
                                ffi::Ffi::Bind()                  \
                                    .Ctx<ffi::ThreadPool>()       \
                                    .Attr<ffi::Span<const int64_t>>("window") \
                                    .Arg<Array>()                 \
                                    .Arg<Array>()                 \
                                    .Ret<Array>())

MYCEL_DEPTHWISE(forward, Forward);
MYCEL_DEPTHWISE(gradient_of_x, GradientOfX);
MYCEL_DEPTHWISE(gradient_of_weight, GradientOfWeight);
