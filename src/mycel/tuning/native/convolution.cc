// SPDX-License-Identifier: Apache-2.0
// Convolutions in two dimensions, their gradients of x and of the weight, for XLA on a CPU.
//
// Each is a product of matrices: the weight times a column for every window; its transpose times a
// column for every place of x; the cotangents times what the elements of the weight meet.

#include "products.h"
#include "windows.h"

namespace {

// Whether windows meet the input as it lies.
bool IsLaid(const Axis& axis) {
  return axis.stride == 1 && axis.before == 0 && axis.Most() + axis.output == axis.input;
}

// The product of some rows with a column for each of some places.
Product ByPlaces(int64_t rows, int64_t depth, const Places& places) {
  Product product{rows, depth, Tiles(places.Count(), kColumns)};
  product.step = places.to_step;
  product.pack_time =
      kPackTime + kRunTime * std::max<int64_t>(kVectors, Tiles(kColumns, places.columns));
  product.panel = [=](int64_t number, Panel& panel) { places.Cut(panel, number); };
  return product;
}

// The input as windows meet it.
struct Laid {
  Laid(const Window& window, const Array& x)
      : window(window),
        from(x.typed_data()),
        layout(InputLayout(window, window.rows.output)),
        columns(ByRemainder(window.columns, layout.pitch)),
        picture(window.Parts() * layout.Size()),
        pictures(window.images * window.channels),
        as_is(IsLaid(window.rows) && IsLaid(window.columns)),
        memory(Allocate(as_is ? 0 : pictures * picture)) {}

  Source From() const { return {as_is ? from : memory.get(), pictures * picture}; }
  int64_t Parts() const { return as_is ? 0 : Tiles(pictures, kPart); }

  void Lay(int64_t part) const {
    for (int64_t n = part * kPart; n < std::min(pictures, (part + 1) * kPart); ++n) {
      float* to = memory.get() + n * picture;
      std::memset(to, 0, 4 * picture);
      LayInput(window, layout, columns, 0, from + n * window.Input(), to, layout.Size());
    }
  }

  // All windows: where they begin in the first channel, and where they are in that of the output.
  Places Windows() const {
    return {window.images, window.rows.output, window.columns.output,
            0, window.channels * picture, layout.pitch,
            0, window.outputs * window.Output(), window.columns.output, 1};
  }

  const Window& window;
  const float* from;
  const Layout layout;
  const std::vector<Columns> columns;
  const int64_t picture, pictures;
  const bool as_is;
  const Memory memory;
};

ffi::Error Forward(ffi::ThreadPool pool, ffi::Span<const int64_t> sizes, Array x, Array weight,
                   Result y) {
  const Running running;
  const Window window(x.dimensions(), weight.dimensions(), y->dimensions(), sizes);
  const int64_t channels = window.channels / window.groups, depth = channels * window.Kernel();
  const int64_t outputs = window.outputs / window.groups;
  const Laid laid(window, x);
  if (!laid.memory) return NoMemory();
  std::vector<int64_t> elements;
  for (int64_t channel = 0; channel < channels; ++channel) {
    for (const int64_t place : Met(window, laid.layout, laid.layout.Size())) {
      elements.push_back(channel * laid.picture + place);
    }
  }
  const Source source = laid.From(), weights{weight.typed_data(), window.outputs * depth};
  Products products(pool, window.groups, y, false);
  for (int64_t group = 0; group < window.groups; ++group) {
    Places places = laid.Windows();
    places.from = group * channels * laid.picture;
    Product product = ByPlaces(outputs, depth, places);
    product.to = y->typed_data() + group * outputs * window.Output();
    product.pitch = window.Output();
    product.pack_rows = [=](int64_t tile, int64_t start, int64_t count, float* to) {
      int64_t rows[kRows];
      const int64_t some = std::min<int64_t>(kRows, outputs - tile * kRows);
      for (int64_t n = 0; n < some; ++n) rows[n] = (group * outputs + tile * kRows + n) * depth;
      const RunsOf<1> all{{{start, 0, 0, count}}, 1};
      PackRows(weights, rows, some, all, &Run::from, kRows, to, kRows * depth);
    };
    product.pack_columns = [=, &elements](const Panel* panels, int64_t many, int64_t start,
                                          int64_t count, float* const* to) {
      PackColumns(source, panels, many, elements.data() + start, count, to);
    };
    products.Add(std::move(product));
  }
  return products.Run(laid.Parts(), [&](int64_t part) { laid.Lay(part); });
}

ffi::Error GradientOfX(ffi::ThreadPool pool, ffi::Span<const int64_t> sizes, Array cotangent,
                       Array weight, Result gradient) {
  const Running running;
  const Window window(gradient->dimensions(), weight.dimensions(), cotangent.dimensions(), sizes);
  const Axis &rows = window.rows, &columns = window.columns;
  const int64_t kernel = window.Kernel(), channels = window.channels / window.groups;
  const int64_t outputs = window.outputs / window.groups;
  const bool as_is = kernel == 1 && IsLaid(rows) && IsLaid(columns);
  const Layout layout{rows.Most() + rows.Places(), columns.Most() + columns.Places()};
  const int64_t size = layout.Size(), pictures = window.images * window.outputs;
  const Memory laid = Allocate(as_is ? 0 : pictures * size);
  if (!laid) return NoMemory();
  const Source source{as_is ? cotangent.typed_data() : laid.get(), pictures * size};
  const std::vector<Columns> lines = ByRemainder(columns, layout.pitch, columns.First());
  const std::vector<Meeting> met = MetBack(window, layout);
  // A product for each remainder of a place by the strides, and each group.
  Products products(pool, met.size() * window.groups, gradient, false);
  for (size_t part = 0; part < met.size(); ++part) {
    const Columns& line = lines[part % columns.stride];
    const int64_t below = part / columns.stride, taps = met[part].elements.size();
    const auto row = [&](int64_t place) {
      return (rows.First() + place) * rows.stride + below - rows.before;
    };
    int64_t top = 0, bottom = rows.Places();
    while (top < bottom && row(top) < 0) ++top;
    while (top < bottom && row(bottom - 1) >= rows.input) --bottom;
    if (top == bottom || line.count == 0) continue;
    for (int64_t group = 0; group < window.groups; ++group) {
      Product product = ByPlaces(
          channels, outputs * taps,
          {window.images, bottom - top, line.count,
           group * outputs * size + top * layout.pitch + line.place, window.outputs * size,
           layout.pitch, row(top) * columns.input + line.first, window.channels * window.Input(),
           rows.stride * columns.input, columns.stride});
      product.to = gradient->typed_data() + group * channels * window.Input();
      product.pitch = window.Input();
      const float* weights = weight.typed_data() + group * outputs * channels * kernel;
      const int64_t* elements = met[part].elements.data();
      const int64_t ahead = taps ? Tiles(16, taps) * channels * kernel : 0;
      product.pack_rows = [=](int64_t tile, int64_t start, int64_t count, float* to) {
        const int64_t some = std::min<int64_t>(kRows, channels - tile * kRows);
        int64_t output = start / taps, tap = start % taps;
        for (int64_t k = 0; k < count; ++k, to += kRows) {
          const float* from =
              weights + (output * channels + tile * kRows) * kernel + elements[tap];
          __builtin_prefetch(from + ahead);
          if (kernel == 1 && some == kRows) {
            std::memcpy(to, from, 4 * kRows);
          } else {
            for (int64_t n = 0; n < some; ++n) to[n] = from[n * kernel];
          }
          if (++tap == taps) tap = 0, ++output;
        }
      };
      product.pack_columns = [=, &met](const Panel* panels, int64_t many, int64_t start,
                                       int64_t count, float* const* to) {
        std::vector<int64_t> depth;
        for (int64_t k = start; k < start + count; ++k) {
          depth.push_back(k / taps * size + met[part].places[k % taps]);
        }
        PackColumns(source, panels, many, depth.data(), count, to);
      };
      products.Add(std::move(product));
    }
  }
  return products.Run(as_is ? 0 : Tiles(pictures, kPart), [&](int64_t part) {
    for (int64_t n = part * kPart; n < std::min(pictures, (part + 1) * kPart); ++n) {
      float* to = laid.get() + n * size;
      std::memset(to, 0, 4 * size);
      LayOutput(window, layout, rows.First() - rows.Most(), columns.Most() - columns.First(),
                cotangent.typed_data() + n * window.Output(), to);
    }
  });
}

ffi::Error GradientOfWeight(ffi::ThreadPool pool, ffi::Span<const int64_t> sizes, Array x,
                            Array cotangent, Result gradient) {
  const Running running;
  const Window window(x.dimensions(), gradient->dimensions(), cotangent.dimensions(), sizes);
  const int64_t kernel = window.Kernel(), channels = window.channels / window.groups;
  const int64_t outputs = window.outputs / window.groups, elements = channels * kernel;
  const Laid laid(window, x);
  if (!laid.memory) return NoMemory();
  const Source source = laid.From();
  const Source slopes{cotangent.typed_data(), window.images * window.outputs * window.Output()};
  const std::vector<int64_t> met = Met(window, laid.layout, laid.layout.Size());
  const Places windows = laid.Windows();
  // In the cotangent, all windows of an image lie side by side.
  Places whole = windows;
  whole.rows = 1, whole.columns = window.Output();
  Products products(pool, window.groups, gradient, true);
  for (int64_t group = 0; group < window.groups; ++group) {
    Product product{outputs, windows.Count(), Tiles(elements, kColumns)};
    product.to = gradient->typed_data() + group * outputs * elements;
    product.pitch = elements;
    product.step = 1;
    product.pack_time = kTurnTime;
    product.panel = [=](int64_t number, Panel& panel) {
      const int64_t first = number * kColumns;
      const int64_t count = std::min<int64_t>(kColumns, elements - first);
      panel.runs.count = 0;
      panel.runs.Add({0, first, 0, count}, 1);
      panel.vectors = Tiles(count, kWidth);
    };
    product.pack_rows = [=](int64_t tile, int64_t start, int64_t count, float* to) {
      int64_t rows[kRows];
      const int64_t some = std::min<int64_t>(kRows, outputs - tile * kRows);
      for (int64_t n = 0; n < some; ++n) {
        rows[n] = (group * outputs + tile * kRows + n) * window.Output();
      }
      Runs runs;
      whole.Cut(runs, start, count);
      PackRows(slopes, rows, some, runs, &Run::to, kRows, to);
    };
    product.pack_columns = [=, &met, &laid](const Panel* panels, int64_t many, int64_t start,
                                            int64_t count, float* const* to) {
      Runs runs;
      windows.Cut(runs, start, count);
      for (int64_t n = 0; n < many; ++n) {
        const Run& columns = panels[n].runs.runs[0];
        for (int64_t at = 0; at < columns.count; at += kWidth) {
          int64_t rows[kWidth];
          const int64_t some = std::min<int64_t>(kWidth, columns.count - at);
          for (int64_t m = 0; m < some; ++m) {
            const int64_t element = columns.to + at + m;
            rows[m] =
                (group * channels + element / kernel) * laid.picture + met[element % kernel];
          }
          PackRows(source, rows, some, runs, &Run::from, panels[n].vectors * kWidth, to[n] + at);
        }
      }
    };
    products.Add(std::move(product));
  }
  return products.Run(laid.Parts(), [&](int64_t part) { laid.Lay(part); });
}

}  // namespace

MYCEL_CONVOLUTION(mycel_convolution_forward, Forward);
MYCEL_CONVOLUTION(mycel_convolution_gradient_of_x, GradientOfX);
MYCEL_CONVOLUTION(mycel_convolution_gradient_of_weight, GradientOfWeight);
