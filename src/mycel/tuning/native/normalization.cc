// SPDX-License-Identifier: Apache-2.0
// Normalisation over a batch, its results kept within bounds, and its reverse, for XLA on a CPU.
//
// XLA reads what is normalised once for each sum, and in every loop finds the channel of each
// element anew. Here a thread takes some channels: it sums blocks that stay near, and goes through
// the channels a second time while they are in its cache.

#include <cmath>

#include "common.h"

namespace {

// Floats of a block, which is read twice: for its mean, and for the squares around it.
constexpr int64_t kBlock = 4096;
// Vectors that are summed side by side.
constexpr int kSide = 4;
// Parts for each thread: the last one makes the others wait.
constexpr int64_t kParts = 4;

struct Bounds {
  float low, high;

  bool Any() const { return low > -INFINITY || high < INFINITY; }

  // NaN stays what it is.
  Vector Within(Vector value) const {
    const Vector least = Vector{} + low, most = Vector{} + high;
    value = Chosen(value < low, least, value);
    return Chosen(value > high, most, value);
  }

  static Vector Chosen(Integers which, Vector yes, Vector no) {
    return (Vector)(((Integers)yes & which) | ((Integers)no & ~which));
  }
};

// [images, channels, places], and how channels are taken.
struct Shape {
  Shape(ffi::Span<const int64_t> sizes, int64_t threads)
      : images(sizes[0]), channels(sizes[1]), places(1) {
    for (size_t n = 2; n < sizes.size(); ++n) places *= sizes[n];
    const int64_t parts = threads < 2 ? 1 : kParts * threads;
    group = std::max<int64_t>(1, std::min(channels / parts, kBlock / places));
    together = std::max<int64_t>(1, kBlock / places);
  }

  int64_t Parts() const { return (channels + group - 1) / group; }

  // Calls `run(channel)` for the channels of all parts.
  template <typename Run>
  void ForChannels(ffi::ThreadPool& pool, Run run) const {
    InParts(pool, Parts(), [&](int64_t part) {
      const int64_t end = std::min(channels, (part + 1) * group);
      for (int64_t channel = part * group; channel < end; ++channel) run(channel);
    });
  }

  // Calls `run(first, end, start, count)` for blocks of a channel: images, and places of each.
  template <typename Run>
  void ForBlocks(Run run) const {
    for (int64_t image = 0; image < images; image += together) {
      for (int64_t start = 0; start < places; start += kBlock) {
        run(image, std::min(images, image + together), start, std::min(kBlock, places - start));
      }
    }
  }

  int64_t At(int64_t image, int64_t channel) const { return (image * channels + channel) * places; }

  int64_t images, channels, places;
  int64_t group;     // channels of a part
  int64_t together;  // images of a block
};

// The first elements of a vector, and 0 behind them.
inline Vector First(Vector value, int64_t count) {
  Vector result = {};
  std::memcpy(&result, &value, 4 * std::min<int64_t>(count, kWidth));
  return result;
}

// Calls `add(side, at, count)` for vectors of so many places, whose sums are added up side by side.
template <typename Add>
inline void ForVectors(int64_t places, Add add) {
  int64_t at = 0;
  for (; at + kSide * kWidth <= places; at += kSide * kWidth) {
#pragma GCC unroll 4
    for (int side = 0; side < kSide; ++side) add(side, at + side * kWidth, kWidth);
  }
  for (; at + kWidth <= places; at += kWidth) add(0, at, kWidth);
  if (at < places) add(1, at, places - at);
}

inline float Total(const Vector* sums) {
  return Total((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

// The mean and the sum of squares around it of a channel, block by block: around a mean that is
// nearly that of the block, whose error is taken off.
struct Moments {
  void Add(const Shape& shape, const float* x, int64_t channel) {
    shape.ForBlocks([&](int64_t first, int64_t end, int64_t start, int64_t places) {
      Vector sums[kSide] = {}, parts[kSide] = {}, squared[kSide] = {};
      const auto for_all = [&](auto add) {
        for (int64_t image = first; image < end; ++image) {
          const float* from = x + shape.At(image, channel) + start;
          ForVectors(places, [&](int side, int64_t at, int64_t some) {
            add(side, Load(from + at, some), some);
          });
        }
      };
      for_all([&](int side, Vector value, int64_t) { sums[side] += value; });
      const double some = (end - first) * places;
      const float middle = Total(sums) / some;
      for_all([&](int side, Vector value, int64_t filled) {
        const Vector away = filled < kWidth ? First(value - middle, filled) : value - middle;
        parts[side] += away;
        squared[side] += away * away;
      });
      const double rest = Total(parts);
      const double sum = std::isfinite(middle) ? middle * some + rest : middle;
      const double off = sum / some - (count > 0 ? total / count : 0), whole = count + some;
      squares += Total(squared) - rest * rest / some + off * off * count * some / whole;
      total += sum;
      count = whole;
    });
  }

  double count = 0, total = 0, squares = 0;
};

// How a channel is normalised; once more in the reverse, with the same bits.
struct Normal {
  Normal(float mean, float variance, float epsilon, float weight, float bias)
      : mean(mean), inverse(1 / std::sqrt(variance + epsilon)), factor(weight * inverse),
        bias(bias) {}

  Vector operator()(Vector x) const { return (x - mean) * factor + bias; }

  float mean, inverse, factor, bias;
};

template <bool bounded>
void Write(const Shape& shape, int64_t channel, const Normal& normal, const Bounds& bounds,
           const float* x, float* y) {
  for (int64_t image = 0; image < shape.images; ++image) {
    const int64_t place = shape.At(image, channel);
    ForVectors(shape.places, [&](int, int64_t at, int64_t some) {
      const Vector value = normal(Load(x + place + at, some));
      Store(y + place + at, bounded ? bounds.Within(value) : value, some);
    });
  }
}

ffi::Error Forward(ffi::ThreadPool pool, float epsilon, float low, float high, Array x,
                   Array weight, Array bias, Result y, Result mean, Result variance) {
  const Running running;
  const Shape shape(x.dimensions(), pool.num_threads());
  const Bounds bounds{low, high};
  const auto write = bounds.Any() ? Write<true> : Write<false>;
  shape.ForChannels(pool, [&](int64_t channel) {
    Moments moments;
    moments.Add(shape, x.typed_data(), channel);
    float& middle = mean->typed_data()[channel] = moments.total / moments.count;
    float& spread = variance->typed_data()[channel] = moments.squares / moments.count;
    const Normal normal(middle, spread, epsilon, weight.typed_data()[channel],
                        bias.typed_data()[channel]);
    write(shape, channel, normal, bounds, x.typed_data(), y->typed_data());
  });
  return ffi::Error::Success();
}

// A channel, there and back.
template <bool bounded>
struct Back {
  // What comes back to a place, before the bounds.
  Vector Slope(int64_t at, int64_t some) const {
    const Vector slope = Load(cotangent + at, some);
    if constexpr (!bounded) return slope;
    const Vector y = normal(Load(x + at, some));
    return (Vector)((Integers)slope & (y > bounds.low) & (y <= bounds.high));
  }

  Vector Centred(int64_t at, int64_t some) const { return Load(x + at, some) - normal.mean; }

  // The sums of the slopes, and of their products with what is centred.
  void Sum(const Shape& shape, int64_t channel, double& shift, double& product) const {
    shape.ForBlocks([&](int64_t first, int64_t end, int64_t start, int64_t places) {
      Vector shifts[kSide] = {}, products[kSide] = {};
      for (int64_t image = first; image < end; ++image) {
        const int64_t place = shape.At(image, channel) + start;
        ForVectors(places, [&](int side, int64_t at, int64_t some) {
          const Vector slope = Slope(place + at, some);
          const Vector both = slope * Centred(place + at, some);
          shifts[side] += some < kWidth ? First(slope, some) : slope;
          products[side] += some < kWidth ? First(both, some) : both;
        });
      }
      shift += Total(shifts);
      product += Total(products);
    });
  }

  void Write(const Shape& shape, int64_t channel, float toward, float level,
             float* gradient) const {
    for (int64_t image = 0; image < shape.images; ++image) {
      const int64_t place = shape.At(image, channel);
      ForVectors(shape.places, [&](int, int64_t at, int64_t some) {
        const Vector value = Slope(place + at, some) * normal.factor +
                             Centred(place + at, some) * toward + level;
        Store(gradient + place + at, value, some);
      });
    }
  }

  const float *x, *cotangent;
  Normal normal;
  Bounds bounds;
};

template <bool bounded>
void Reverse(ffi::ThreadPool& pool, const Shape& shape, const Bounds& bounds, float epsilon,
             const float* x, const float* weight, const float* bias, const float* mean,
             const float* variance, const float* cotangent, const float* of_mean,
             const float* of_variance, float* gradient, float* of_weight, float* of_bias) {
  const double count = shape.images * shape.places;
  shape.ForChannels(pool, [&](int64_t channel) {
    const Normal normal(mean[channel], variance[channel], epsilon, weight[channel], bias[channel]);
    const Back<bounded> back{x, cotangent, normal, bounds};
    double shift = 0, product = 0;
    back.Sum(shape, channel, shift, product);
    of_weight[channel] = product * normal.inverse;
    of_bias[channel] = shift;
    const double squared = static_cast<double>(normal.inverse) * normal.inverse;
    const double toward = (2 * of_variance[channel] - normal.factor * squared * product) / count;
    const double level = (of_mean[channel] - normal.factor * shift) / count;
    back.Write(shape, channel, toward, level, gradient);
  });
}

ffi::Error Reversed(ffi::ThreadPool pool, float epsilon, float low, float high, Array x,
                    Array weight, Array bias, Array mean, Array variance, Array cotangent,
                    Array of_mean, Array of_variance, Result gradient, Result of_weight,
                    Result of_bias) {
  const Running running;
  const Shape shape(x.dimensions(), pool.num_threads());
  const Bounds bounds{low, high};
  const auto reverse = bounds.Any() ? Reverse<true> : Reverse<false>;
  reverse(pool, shape, bounds, epsilon, x.typed_data(), weight.typed_data(), bias.typed_data(),
          mean.typed_data(), variance.typed_data(), cotangent.typed_data(), of_mean.typed_data(),
          of_variance.typed_data(), gradient->typed_data(), of_weight->typed_data(),
          of_bias->typed_data());
  return ffi::Error::Success();
}

auto Bound() {
  return ffi::Ffi::Bind()
      .Ctx<ffi::ThreadPool>()
      .Attr<float>("epsilon")
      .Attr<float>("low")
      .Attr<float>("high")
      .Arg<Array>()
      .Arg<Array>()
      .Arg<Array>();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(mycel_batch_norm_forward, Forward,
                              Bound().Ret<Array>().Ret<Array>().Ret<Array>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(mycel_batch_norm_reverse, Reversed,
                              Bound()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Arg<Array>()
                                  .Ret<Array>()
                                  .Ret<Array>()
                                  .Ret<Array>());
