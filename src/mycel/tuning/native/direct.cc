// SPDX-License-Identifier: Apache-2.0
// Convolutions of few channels in two dimensions, their gradients of x and of the weight, for XLA on a
// CPU.
//
// What windows meet is read where it lies: packing it (`convolution.cc`) would take longer than it
// saves. A tile of some outputs and some places is kept in registers, for all channels and elements of
// the kernel; the places of all rows lie one behind the other.

#include "windows.h"

namespace {

// A tile of the result: so many outputs, and so many vectors of places.
constexpr int kOutputs = kWidth == 16 ? 12 : 6;
constexpr int kVectors = 2;
constexpr int kUnit = kVectors * kWidth;
// A tile of the weight's gradient: so many elements of the kernel, of one or more channels, and two
// vectors of outputs.
constexpr int kElements = kWidth == 16 ? 9 : 6;
// Floats of a picture's channels that stay in the cache while all outputs are made of them.
constexpr int64_t kNear = 1 << 16;
// About so many places are multiplied before the next channel is taken, in the gradient of the
// weight: the outputs' cotangents there stay in the nearest cache.
constexpr int64_t kPlaces = 256;

int64_t Tiles(int64_t count, int64_t size) { return (count + size - 1) / size; }

// Some outputs at some vectors of places: the sums over all channels and elements of the kernel.
// Weights lie in the order in which they are used, `kOutputs` for each channel and element.
template <int outputs, int vectors>
void Tile(const float* x, int64_t channels, int64_t apart, const std::vector<int64_t>& places,
          const float* weights, float* to, int64_t pitch) {
  Vector sums[outputs][vectors] = {};
  for (int64_t channel = 0; channel < channels; ++channel, x += apart) {
    for (const int64_t place : places) {
      Vector met[vectors];
      for (int n = 0; n < vectors; ++n) met[n] = Load(x + place + n * kWidth);
#pragma GCC unroll 16
      for (int output = 0; output < outputs; ++output) {
        for (int n = 0; n < vectors; ++n) sums[output][n] += weights[output] * met[n];
      }
      weights += kOutputs;
    }
  }
  for (int output = 0; output < outputs; ++output) {
    for (int n = 0; n < vectors; ++n) Store(to + output * pitch + n * kWidth, sums[output][n]);
  }
}

// All tiles of some outputs at `length` places.
template <int outputs>
void Tiled(int64_t count, int64_t length, const float* x, int64_t channels, int64_t apart,
           const std::vector<int64_t>& places, const float* weights, float* to, int64_t pitch) {
  if constexpr (outputs > 0) {
    if (count < outputs) {
      Tiled<outputs - 1>(count, length, x, channels, apart, places, weights, to, pitch);
      return;
    }
    for (int64_t at = 0; at < length; at += kUnit) {
      if (length - at > kWidth) {
        Tile<outputs, kVectors>(x + at, channels, apart, places, weights, to + at, pitch);
      } else {
        Tile<outputs, 1>(x + at, channels, apart, places, weights, to + at, pitch);
      }
    }
  }
}

// How the result is cut: each unit is some rows of one image, and some tiles of its channels.
struct Units {
  // `rows` of the result, in whose layout `most` more lie; each reads so many `channels`, and there
  // are so many `tiles` of outputs.
  Units(ffi::ThreadPool& pool, const Window& window, int64_t rows, int64_t most, int64_t pitch,
        int64_t channels, int64_t tiles) {
    const int64_t near = kNear / (channels * pitch) - most, unit = Tiles(kUnit, pitch);
    height = std::min(rows, std::max(near, unit));
    blocks = Tiles(rows, height);
    height = Tiles(rows, blocks);
    const int64_t all = window.images * blocks, wanted = 2 * pool.num_threads();
    shares = std::min(tiles, pool.num_threads() < 2 ? 1 : Tiles(wanted, all));
    share = Tiles(tiles, shares);
    shares = Tiles(tiles, share);
    count = all * shares;
    total = rows;
  }

  // A unit: its image, its first row and how many it has, and the first tile.
  struct Unit {
    int64_t image, first, rows, tile;
  };
  Unit At(int64_t unit) const {
    const int64_t first = unit / shares % blocks * height;
    return {unit / shares / blocks, first, std::min(height, total - first), unit % shares * share};
  }

  int64_t height, blocks, shares, share, count, total;
};

// The weight in the order of tiles: for each tile of `outputs`, for each of `channels`, for each of
// some elements of the kernel.
void Pack(ffi::ThreadPool& pool, const float* weight, int64_t outputs, int64_t output_step,
          int64_t channels, int64_t channel_step, const std::vector<int64_t>& elements, float* to) {
  const int64_t size = channels * elements.size() * kOutputs;
  InParts(pool, Tiles(outputs, kOutputs), [&](int64_t tile) {
    float* packed = to + tile * size;
    const int64_t count = std::min<int64_t>(kOutputs, outputs - tile * kOutputs);
    for (int64_t channel = 0; channel < channels; ++channel) {
      const float* from = weight + tile * kOutputs * output_step + channel * channel_step;
      for (const int64_t element : elements) {
        for (int64_t n = 0; n < count; ++n) packed[n] = from[n * output_step + element];
        packed += kOutputs;
      }
    }
  });
}

std::vector<int64_t> All(int64_t count) {
  std::vector<int64_t> result;
  for (int64_t n = 0; n < count; ++n) result.push_back(n);
  return result;
}

ffi::Error Forward(ffi::ThreadPool pool, ffi::Span<const int64_t> sizes, Array x, Array weight,
                   Result y) {
  const Running running;
  const Window window(x.dimensions(), weight.dimensions(), y->dimensions(), sizes);
  const int64_t width = window.columns.output, kernel = window.Kernel();
  const int64_t channels = window.channels / window.groups;
  const int64_t outputs = window.outputs / window.groups, tiles = Tiles(outputs, kOutputs);
  const int64_t packed_size = tiles * channels * kernel * kOutputs;
  const Memory packed = Allocate(window.groups * packed_size);
  if (!packed) return NoMemory();
  for (int64_t group = 0; group < window.groups; ++group) {
    Pack(pool, weight.typed_data() + group * outputs * channels * kernel, outputs,
         channels * kernel, channels, kernel, All(kernel), packed.get() + group * packed_size);
  }
  const int64_t pitch = InputLayout(window, 1).pitch;
  const Units units(pool, window, window.rows.output, window.rows.Most(), pitch,
                    channels * window.Parts(), tiles);
  const Layout layout = InputLayout(window, units.height);
  const std::vector<Columns> columns = ByRemainder(window.columns, pitch);
  const int64_t size = layout.Size(), apart = window.Parts() * size;
  const std::vector<int64_t> met = Met(window, layout, size);
  const int64_t length = Tiles(units.height * pitch, kUnit) * kUnit;
  const int64_t total = channels * apart + pitch + kSlack;
  const auto run = [&](int64_t first, int64_t end, float* laid) {
    float* sums = laid + total;
    for (int64_t unit = first; unit < end; ++unit) {
      const auto [image, row, rows, first_tile] = units.At(unit);
      for (int64_t group = 0; group < window.groups; ++group) {
        for (int64_t channel = 0; channel < channels; ++channel) {
          const int64_t picture = image * window.channels + group * channels + channel;
          LayInput(window, layout, columns, row, x.typed_data() + picture * window.Input(),
                   laid + channel * apart, size);
        }
        const int64_t last = std::min(tiles, first_tile + units.share);
        for (int64_t tile = first_tile; tile < last; ++tile) {
          const int64_t count = std::min<int64_t>(kOutputs, outputs - tile * kOutputs);
          const float* weights =
              packed.get() + group * packed_size + tile * channels * kernel * kOutputs;
          Tiled<kOutputs>(count, rows * pitch, laid, channels, apart, met, weights, sums, length);
          const int64_t output = group * outputs + tile * kOutputs;
          float* to = y->typed_data() + (image * window.outputs + output) * window.Output();
          for (int64_t n = 0; n < count; ++n) {
            for (int64_t down = 0; down < rows; ++down) {
              Copy(to + n * window.Output() + (row + down) * width,
                   sums + n * length + down * pitch, width);
            }
          }
        }
      }
    }
  };
  return WithMemory(pool, units.count, total + kOutputs * length, run);
}

ffi::Error GradientOfX(ffi::ThreadPool pool, ffi::Span<const int64_t> sizes, Array cotangent,
                       Array weight, Result gradient) {
  const Running running;
  const Window window(gradient->dimensions(), weight.dimensions(), cotangent.dimensions(), sizes);
  const Axis &rows = window.rows, &columns = window.columns;
  const int64_t kernel = window.Kernel(), channels = window.channels / window.groups;
  const int64_t outputs = window.outputs / window.groups, tiles = Tiles(channels, kOutputs);
  const int64_t pitch = columns.Most() + columns.Places();
  const Units units(pool, window, rows.Places(), rows.Most(), pitch, outputs, tiles);
  const Layout layout{rows.Most() + units.height, pitch};
  const std::vector<Columns> places = ByRemainder(columns, pitch, columns.First());
  const std::vector<Meeting> met = MetBack(window, layout);
  // For each remainder its elements of the kernel, for each group.
  const int64_t packed_size = tiles * outputs * kernel * kOutputs;
  const Memory packed = Allocate(window.groups * packed_size);
  if (!packed) return NoMemory();
  std::vector<const float*> parts;
  for (int64_t group = 0; group < window.groups; ++group) {
    float* to = packed.get() + group * packed_size;
    for (const Meeting& meeting : met) {
      Pack(pool, weight.typed_data() + group * outputs * channels * kernel, channels, kernel,
           outputs, channels * kernel, meeting.elements, to);
      parts.push_back(to);
      to += tiles * outputs * meeting.elements.size() * kOutputs;
    }
  }
  const int64_t size = layout.Size(), length = Tiles(units.height * pitch, kUnit) * kUnit;
  const int64_t total = outputs * size + pitch + kSlack;
  const auto run = [&](int64_t first, int64_t end, float* laid) {
    float* sums = laid + total;
    for (int64_t unit = first; unit < end; ++unit) {
      const auto [image, start, height, first_tile] = units.At(unit);
      for (int64_t group = 0; group < window.groups; ++group) {
        for (int64_t output = 0; output < outputs; ++output) {
          const int64_t picture = image * window.outputs + group * outputs + output;
          LayOutput(window, layout, rows.First() + start - rows.Most(),
                    columns.Most() - columns.First(), cotangent.typed_data() + picture * window.Output(), laid + output * size);
        }
        const int64_t last = std::min(tiles, first_tile + units.share);
        for (int64_t tile = first_tile; tile < last; ++tile) {
          const int64_t count = std::min<int64_t>(kOutputs, channels - tile * kOutputs);
          const int64_t channel = group * channels + tile * kOutputs;
          float* to = gradient->typed_data() + (image * window.channels + channel) * window.Input();
          for (size_t part = 0; part < met.size(); ++part) {
            const int64_t taps = met[part].elements.size();
            const float* weights = parts[group * met.size() + part] + tile * outputs * taps * kOutputs;
            Tiled<kOutputs>(count, height * pitch, laid, outputs, size, met[part].places, weights,
                            sums, length);
            const int64_t below = part / columns.stride;
            const Columns& some = places[part % columns.stride];
            for (int64_t down = 0; down < height; ++down) {
              const int64_t row = (rows.First() + start + down) * rows.stride + below - rows.before;
              if (row < 0 || row >= rows.input) continue;
              for (int64_t n = 0; n < count; ++n) {
                some.Spread(to + n * window.Input() + row * columns.input,
                            sums + n * length + down * pitch);
              }
            }
          }
        }
      }
    }
  };
  return WithMemory(pool, units.count, total + kOutputs * length, run);
}

// What the elements of a tile meet, row by row of some windows.
struct Rows {
  int64_t height, width, down, right;
};

// Adds to a tile of the weight's gradient, `kUnit` outputs for each element, the products of the
// outputs' cotangents, `kUnit` for each place, with what the elements meet there.
template <int elements, int vectors>
void Multiply(const Rows& rows, const float* y, const float* x, const int64_t* met, float* sums) {
  Vector parts[elements][vectors] = {};
  int64_t places[elements];
  for (int element = 0; element < elements; ++element) places[element] = met[element];
  for (int64_t row = 0; row < rows.height; ++row) {
    const float* at = x + row * rows.down;
    for (int64_t column = 0; column < rows.width; ++column, at += rows.right, y += kUnit) {
      Vector slopes[vectors];
      for (int n = 0; n < vectors; ++n) slopes[n] = Load(y + n * kWidth);
#pragma GCC unroll 16
      for (int element = 0; element < elements; ++element) {
        for (int n = 0; n < vectors; ++n) parts[element][n] += at[places[element]] * slopes[n];
      }
    }
  }
  for (int element = 0; element < elements; ++element) {
    for (int n = 0; n < vectors; ++n) {
      float* sum = sums + element * kUnit + n * kWidth;
      Store(sum, Load(sum) + parts[element][n]);
    }
  }
}

template <int elements>
void Multiplied(int64_t count, bool narrow, const Rows& rows, const float* y, const float* x,
                const int64_t* met, float* sums) {
  if constexpr (elements > 0) {
    if (count < elements) return Multiplied<elements - 1>(count, narrow, rows, y, x, met, sums);
    if (narrow) {
      Multiply<elements, 1>(rows, y, x, met, sums);
    } else {
      Multiply<elements, kVectors>(rows, y, x, met, sums);
    }
  }
}

ffi::Error GradientOfWeight(ffi::ThreadPool pool, ffi::Span<const int64_t> sizes, Array x,
                            Array cotangent, Result gradient) {
  const Running running;
  const Window window(x.dimensions(), gradient->dimensions(), cotangent.dimensions(), sizes);
  const Axis &rows = window.rows, &columns = window.columns;
  const int64_t kernel = window.Kernel(), channels = window.channels / window.groups;
  const int64_t outputs = window.outputs / window.groups, tiles = Tiles(outputs, kUnit);
  // A unit is some outputs, some channels and some images. What several units add to the same
  // weights is added up at the end, in their order.
  const int64_t wanted = pool.num_threads() < 2 ? 1 : 2 * pool.num_threads();
  const int64_t share = Tiles(channels, Tiles(wanted, window.groups * tiles));
  const int64_t shares = Tiles(channels, share);
  const int64_t some =
      Tiles(window.images, Tiles(wanted, window.groups * tiles * shares));
  const int64_t stacks = Tiles(window.images, some);
  const int64_t weights = window.outputs * channels * kernel;
  const Memory partial = Allocate(stacks > 1 ? stacks * weights : 0);
  if (!partial) return NoMemory();
  // Rows of the padded input that a block of windows meets, whatever the stride.
  const int64_t pitch = columns.before + std::max(columns.input, columns.Reach() - columns.before);
  const int64_t near = (kNear / (share * pitch) - rows.Reach(1)) / rows.stride + 1;
  const int64_t height = std::max<int64_t>(
      1, std::min({rows.output, near, Tiles(kPlaces, columns.output)}));
  const int64_t size = rows.Reach(height) * pitch;
  std::vector<int64_t> met;
  for (int64_t channel = 0; channel < share; ++channel) {
    for (int64_t row = 0; row < rows.kernel; ++row) {
      for (int64_t column = 0; column < columns.kernel; ++column) {
        met.push_back(channel * size + row * rows.dilation * pitch + column * columns.dilation);
      }
    }
  }
  const int64_t packed = height * columns.output * kUnit, total = share * size;
  const auto run = [&](int64_t begin, int64_t end, float* laid) {
    float* y = laid + total;
    float* sums = y + packed;
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % shares * share, stack = unit / shares % stacks;
      const int64_t tile = unit / shares / stacks % tiles, group = unit / shares / stacks / tiles;
      const int64_t count = std::min(share, channels - first);
      const int64_t output = group * outputs + tile * kUnit;
      const int64_t width = std::min<int64_t>(kUnit, outputs - tile * kUnit);
      std::memset(sums, 0, 4 * share * kernel * kUnit);
      const int64_t last = std::min(window.images, (stack + 1) * some);
      for (int64_t image = stack * some; image < last; ++image) {
        for (int64_t start = 0; start < rows.output; start += height) {
          const Rows block{std::min(height, rows.output - start), columns.output,
                           rows.stride * pitch, columns.stride};
          const float* from = cotangent.typed_data() +
                              (image * window.outputs + output) * window.Output() +
                              start * columns.output;
          for (int64_t n = 0; n < width; ++n) {
            for (int64_t place = 0; place < block.height * block.width; ++place) {
              y[place * kUnit + n] = from[n * window.Output() + place];
            }
          }
          for (int64_t channel = 0; channel < count; ++channel) {
            const int64_t picture = image * window.channels + group * channels + first + channel;
            for (int64_t down = 0; down < rows.Reach(block.height); ++down) {
              float* line = laid + channel * size + down * pitch + columns.before;
              const int64_t row = start * rows.stride + down - rows.before;
              if (row >= 0 && row < rows.input) {
                Copy(line, x.typed_data() + picture * window.Input() + row * columns.input,
                     columns.input);
              } else {
                std::fill_n(line, columns.input, 0.0f);
              }
            }
          }
          for (int64_t element = 0; element < count * kernel; element += kElements) {
            Multiplied<kElements>(std::min<int64_t>(kElements, count * kernel - element),
                                  width <= kWidth, block, y, laid, met.data() + element,
                                  sums + element * kUnit);
          }
        }
      }
      float* to = (stacks > 1 ? partial.get() + stack * weights : gradient->typed_data()) +
                  (output * channels + first) * kernel;
      for (int64_t n = 0; n < width; ++n) {
        for (int64_t element = 0; element < count * kernel; ++element) {
          to[n * channels * kernel + element] = sums[element * kUnit + n];
        }
      }
    }
  };
  const ffi::Error error = WithMemory(pool, window.groups * tiles * stacks * shares,
                                      total + packed + share * kernel * kUnit, run);
  if (stacks > 1 && error.success()) {
    float* to = gradient->typed_data();
    std::memcpy(to, partial.get(), 4 * weights);
    for (int64_t n = weights; n < stacks * weights; ++n) to[n % weights] += partial.get()[n];
  }
  return error;
}

}  // namespace

MYCEL_CONVOLUTION(mycel_direct_forward, Forward);
MYCEL_CONVOLUTION(mycel_direct_gradient_of_x, GradientOfX);
MYCEL_CONVOLUTION(mycel_direct_gradient_of_weight, GradientOfWeight);
