// SPDX-License-Identifier: Apache-2.0
// What functions in C++ for XLA on a CPU share: vectors, memory, threads.

#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

// -- vectors --------------------------------------------------------------------------------------

#if defined(__AVX512F__)
constexpr int kWidth = 16;
#elif defined(__AVX__)
constexpr int kWidth = 8;
#else
constexpr int kWidth = 4;
#endif
typedef float Vector __attribute__((vector_size(4 * kWidth)));
typedef int32_t Integers __attribute__((vector_size(4 * kWidth)));

inline Vector Load(const float* from) {
  Vector result;
  std::memcpy(&result, from, sizeof result);
  return result;
}

inline void Store(float* to, Vector value) { std::memcpy(to, &value, sizeof value); }

// The last elements of a row, maybe fewer than a vector has: no others are touched.
#if defined(__AVX512F__)
inline __mmask16 Bits(int64_t count) { return count >= kWidth ? 0xffff : (1u << count) - 1; }

inline Vector Load(const float* from, int64_t count) {
  return _mm512_maskz_loadu_ps(Bits(count), from);
}

inline void Store(float* to, Vector value, int64_t count) {
  _mm512_mask_storeu_ps(to, Bits(count), value);
}
#elif defined(__AVX__)
inline __m256i Bits(int64_t count) {
  static const int32_t kBits[2 * kWidth] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_loadu_si256((const __m256i*)(kBits + kWidth - std::min<int64_t>(count, kWidth)));
}

inline Vector Load(const float* from, int64_t count) {
  return _mm256_maskload_ps(from, Bits(count));
}

inline void Store(float* to, Vector value, int64_t count) {
  _mm256_maskstore_ps(to, Bits(count), value);
}
#else
inline Vector Load(const float* from, int64_t count) {
  if (count >= kWidth) return Load(from);
  Vector result = {};
  std::memcpy(&result, from, 4 * count);
  return result;
}

inline void Store(float* to, Vector value, int64_t count) {
  std::memcpy(to, &value, count >= kWidth ? sizeof value : 4 * count);
}
#endif

// The sum of some floats, half by half.
template <int count>
inline float Total(const float* from) {
  if constexpr (count == 1) {
    return *from;
  } else {
    typedef float Half __attribute__((vector_size(2 * count)));
    Half left, right;
    std::memcpy(&left, from, sizeof left);
    std::memcpy(&right, from + count / 2, sizeof right);
    left += right;
    float sums[count / 2];
    std::memcpy(sums, &left, sizeof left);
    return Total<count / 2>(sums);
  }
}

inline float Total(Vector value) {
  float lanes[kWidth];
  Store(lanes, value);
  return Total<kWidth>(lanes);
}

// -- memory ---------------------------------------------------------------------------------------

struct Free {
  void operator()(float* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<float, Free>;

inline Memory Allocate(int64_t count) {
  const size_t bytes = (4 * static_cast<size_t>(count) + 63) / 64 * 64;
  return Memory(static_cast<float*>(std::aligned_alloc(64, std::max<size_t>(bytes, 64))));
}

// What a call works in is asked for before its threads begin, so that want of memory is an error.
inline ffi::Error NoMemory() {
  return ffi::Error(ffi::ErrorCode::kResourceExhausted, "no memory to compute in");
}

// -- threads --------------------------------------------------------------------------------------

// Phases of parts, taken by who comes first; those of a phase begin when all before have ended. The
// caller takes parts too, and waits only for those that another thread has begun: threads that
// never come are not missed.
struct Phases {
  // Is called with a phase, a part of it, and which thread it is.
  using Run = std::function<void(int64_t, int64_t, int64_t)>;

  Phases(std::vector<int64_t> counts, Run run) : run(run) {
    for (const int64_t count : counts) ends.push_back(total += count);
  }

  void Take(int64_t thread) {
    size_t phase = 0;
    for (int64_t part; (part = next.fetch_add(1)) < total;) {
      while (part >= ends[phase]) ++phase;
      const int64_t before = phase ? ends[phase - 1] : 0;
      for (int spin = 0; ended.load() < before; ++spin) {
        if (spin > 1000) std::this_thread::yield();
      }
      run(phase, part - before, thread);
      if (ended.fetch_add(1) + 1 == total) {
        std::lock_guard<std::mutex> held(lock);
        all.notify_all();
      }
    }
  }

  Run run;
  std::vector<int64_t> ends;
  int64_t total = 0;
  std::atomic<int64_t> next{0}, ended{0};
  std::mutex lock;
  std::condition_variable all;
};

// Runs so many parts of each phase.
inline void InPhases(ffi::ThreadPool& pool, const std::vector<int64_t>& counts,
                     Phases::Run run) {
  const int64_t most = *std::max_element(counts.begin(), counts.end());
  const int64_t threads = std::min<int64_t>(most, pool.num_threads());
  if (threads < 2) {
    for (size_t phase = 0; phase < counts.size(); ++phase) {
      for (int64_t part = 0; part < counts[phase]; ++part) run(phase, part, 0);
    }
    return;
  }
  auto phases = std::make_shared<Phases>(counts, run);
  for (int64_t other = 1; other < threads; ++other) pool.Schedule([=] { phases->Take(other); });
  phases->Take(0);
  for (int spin = 0; spin < 2000 && phases->ended.load() < phases->total; ++spin) {
  }
  std::unique_lock<std::mutex> held(phases->lock);
  phases->all.wait(held, [&] { return phases->ended.load() == phases->total; });
}

inline void InParts(ffi::ThreadPool& pool, int64_t count, std::function<void(int64_t)> run) {
  InPhases(pool, {count}, [&run](int64_t, int64_t part, int64_t) { run(part); });
}

using Array = ffi::Buffer<ffi::F32>;
using Result = ffi::ResultBuffer<ffi::F32>;

// A call, from its beginning to its end: they are counted, so that a process can wait for them
// before it ends.
struct Running {
  Running() { calls.fetch_add(1); }
  ~Running() { calls.fetch_sub(1); }
  static inline std::atomic<int64_t> calls{0};
};

}  // namespace

extern "C" inline __attribute__((used)) int64_t mycel_running() { return Running::calls.load(); }
