// SPDX-License-Identifier: Apache-2.0
// How convolutions lay out pictures.
//
// Arrays are [batch, channels, height, width], weights [outputs, channels of a group, height, width].
// A picture, one channel of one image, is laid out with zeros around it and its places sorted by
// their remainder by the stride, so that what an element of the kernel meets lies in one piece, row
// after row: all rows are one run of vectors. What such a run computes between two rows is dropped.

#pragma once

#include <vector>

#include "common.h"

namespace {

// A dimension of space.
struct Axis {
  int64_t input, kernel, output, stride, dilation, before;

  int64_t Remainder(int64_t element) const { return element * dilation % stride; }
  int64_t Steps(int64_t element) const { return element * dilation / stride; }
  int64_t Most() const { return Steps(kernel - 1); }
  // Places of the padded input with one remainder by the stride: the first one that may be in the
  // input, and how many there are up to the last one.
  int64_t First() const { return before / stride; }
  int64_t Places() const { return (before + input - 1) / stride - First() + 1; }
  // What so many windows meet.
  int64_t Reach(int64_t windows) const { return (windows - 1) * stride + (kernel - 1) * dilation + 1; }
  int64_t Reach() const { return Reach(output); }
};

struct Window {
  Window(const Array::Dimensions& x, const Array::Dimensions& weight, const Array::Dimensions& y,
         ffi::Span<const int64_t> sizes)
      : rows{x[2], weight[2], y[2], sizes[0], sizes[2], sizes[4]},
        columns{x[3], weight[3], y[3], sizes[1], sizes[3], sizes[5]},
        images(x[0]),
        channels(x[1]),
        outputs(weight[0]),
        groups(x[1] / weight[1]) {}

  int64_t Input() const { return rows.input * columns.input; }
  int64_t Kernel() const { return rows.kernel * columns.kernel; }
  int64_t Output() const { return rows.output * columns.output; }
  // Remainders of a place by both strides.
  int64_t Parts() const { return rows.stride * columns.stride; }
  int64_t Part(int64_t row, int64_t column) const {
    return rows.Remainder(row) * columns.stride + columns.Remainder(column);
  }

  Axis rows, columns;
  int64_t images, channels, outputs, groups;
};

// How a picture lies in memory.
struct Layout {
  int64_t height, pitch;
  int64_t Size() const { return height * pitch; }
};

// Zeros behind all pictures, for the last run.
constexpr int64_t kSlack = 8 * kWidth;

// The layout of `height` rows of windows.
Layout InputLayout(const Window& window, int64_t height) {
  return {window.rows.Most() + height, window.columns.Most() + window.columns.output};
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

__attribute__((always_inline)) inline void Move(float* __restrict to, const float* __restrict from,
                                                int64_t count, int64_t to_step,
                                                int64_t from_step) {
  for (int64_t at = 0; at < count; ++at) to[at * to_step] = from[at * from_step];
}

// The columns of the input with one remainder by the stride: the first one, where it lies in a
// layout, and how many there are.
struct Columns {
  Columns(const Axis& axis, int64_t remainder, int64_t pitch, int64_t origin)
      : stride(axis.stride) {
    first = ((remainder - axis.before) % stride + stride) % stride;
    place = (first + axis.before) / stride - origin;
    const int64_t all = (axis.input - first + stride - 1) / stride;
    count = std::max<int64_t>(0, std::min(all, pitch - place));
  }

  void Lay(float* line, const float* row) const {
    if (stride == 1) return Copy(line + place, row + first, count);
    // Where 2 is known to the compiler, the loop has vectors.
    if (stride == 2) return Move(line + place, row + first, count, 1, 2);
    Move(line + place, row + first, count, 1, stride);
  }

  void Spread(float* row, const float* line) const {
    if (stride == 1) return Copy(row + first, line + place, count);
    if (stride == 2) return Move(row + first, line + place, count, 2, 1);
    Move(row + first, line + place, count, stride, 1);
  }

  int64_t stride, first, place, count;
};

std::vector<Columns> ByRemainder(const Axis& axis, int64_t pitch, int64_t origin = 0) {
  std::vector<Columns> result;
  for (int64_t n = 0; n < axis.stride; ++n) result.emplace_back(axis, n, pitch, origin);
  return result;
}

// Lays what the windows from row `first` on meet of a picture, parts `apart` from each other. What
// lies beside rows is left as it is.
void LayInput(const Window& window, const Layout& layout, const std::vector<Columns>& columns,
              int64_t first, const float* x, float* laid, int64_t apart) {
  for (int64_t below = 0; below < window.rows.stride; ++below) {
    for (int64_t down = 0; down < layout.height; ++down) {
      const int64_t row = (first + down) * window.rows.stride + below - window.rows.before;
      const bool inside = row >= 0 && row < window.rows.input;
      for (int64_t beside = 0; beside < window.columns.stride; ++beside) {
        float* line =
            laid + (below * window.columns.stride + beside) * apart + down * layout.pitch;
        const Columns& some = columns[beside];
        if (inside) {
          some.Lay(line, x + row * window.columns.input);
        } else {
          std::fill_n(line + some.place, some.count, 0.0f);
        }
      }
    }
  }
}

// Lays rows of a picture of the output from row `first` on (before the first one are zeros), `right`
// of the layout's edge, or left of it, where what lies outside is left out.
void LayOutput(const Window& window, const Layout& layout, int64_t first, int64_t right,
               const float* y, float* laid) {
  const int64_t left_out = std::max<int64_t>(0, -right);
  const int64_t width =
      std::max<int64_t>(0, std::min(window.columns.output - left_out, layout.pitch - right - left_out));
  for (int64_t down = 0; down < layout.height; ++down) {
    float* line = laid + down * layout.pitch + right + left_out;
    const int64_t row = first + down;
    if (row >= 0 && row < window.rows.output) {
      Copy(line, y + row * window.columns.output + left_out, width);
    } else {
      std::fill_n(line, width, 0.0f);
    }
  }
}

// Where the input lies that each element of the kernel meets first.
std::vector<int64_t> Met(const Window& window, const Layout& layout, int64_t apart) {
  std::vector<int64_t> result;
  for (int64_t row = 0; row < window.rows.kernel; ++row) {
    for (int64_t column = 0; column < window.columns.kernel; ++column) {
      result.push_back(window.Part(row, column) * apart + window.rows.Steps(row) * layout.pitch +
                       window.columns.Steps(column));
    }
  }
  return result;
}

// For the places of the input with one remainder by the strides: the elements of the kernel that
// meet them, and where the output lies that they came from.
struct Meeting {
  std::vector<int64_t> elements, places;
};

std::vector<Meeting> MetBack(const Window& window, const Layout& layout) {
  std::vector<Meeting> result(window.Parts());
  for (int64_t row = 0, element = 0; row < window.rows.kernel; ++row) {
    for (int64_t column = 0; column < window.columns.kernel; ++column, ++element) {
      Meeting& meeting = result[window.Part(row, column)];
      meeting.elements.push_back(element);
      meeting.places.push_back((window.rows.Most() - window.rows.Steps(row)) * layout.pitch +
                               window.columns.Most() - window.columns.Steps(column));
    }
  }
  return result;
}

// Where a run has places between two rows: all bits where an array has an element, else none.
std::vector<int32_t> Between(const Window& window, const Layout& layout) {
  std::vector<int32_t> result(layout.Size() + kSlack, 0);
  for (int64_t row = 0; row < window.rows.output; ++row) {
    std::fill_n(result.begin() + row * layout.pitch, window.columns.output, -1);
  }
  return result;
}

inline Vector Masked(Vector value, const int32_t* mask) {
  Integers bits;
  std::memcpy(&bits, mask, sizeof bits);
  return (Vector)((Integers)value & bits);
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

#define MYCEL_CONVOLUTION(name, function)                                     \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(name, function,                               \
                                ffi::Ffi::Bind()                              \
                                    .Ctx<ffi::ThreadPool>()                   \
                                    .Attr<ffi::Span<const int64_t>>("window") \
                                    .Arg<Array>()                             \
                                    .Arg<Array>()                             \
                                    .Ret<Array>())

}  // namespace
