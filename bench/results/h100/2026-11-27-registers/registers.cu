
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>
#include <algorithm>
#include <cuda_runtime.h>
constexpr unsigned kRegisterUnits = 24;
#define GVB_LOAD(a, b, c, d) "@p ld.volatile.global.v4.u32 {%" #a ", %" #b ", %" #c ", %" #d "}, [%96];\n"
#define GVB_OUT(i) "=r"(any[i][0]), "=r"(any[i][1]), "=r"(any[i][2]), "=r"(any[i][3])
#define GVB_OUT4(i) GVB_OUT(i), GVB_OUT(i + 1), GVB_OUT(i + 2), GVB_OUT(i + 3)


extern "C" __global__ void dump(const uint4* tag_at, unsigned fill, uint4* out) {
  uint32_t any[kRegisterUnits][4];
  asm volatile("{ .reg .pred p;\nsetp.ne.u32 p, %97, 0;\n"
               // clang-format off
      GVB_LOAD(0, 1, 2, 3)
      GVB_LOAD(4, 5, 6, 7)
      GVB_LOAD(8, 9, 10, 11)
      GVB_LOAD(12, 13, 14, 15)
      GVB_LOAD(16, 17, 18, 19)
      GVB_LOAD(20, 21, 22, 23)
      GVB_LOAD(24, 25, 26, 27)
      GVB_LOAD(28, 29, 30, 31)
      GVB_LOAD(32, 33, 34, 35)
      GVB_LOAD(36, 37, 38, 39)
      GVB_LOAD(40, 41, 42, 43)
      GVB_LOAD(44, 45, 46, 47)
      GVB_LOAD(48, 49, 50, 51)
      GVB_LOAD(52, 53, 54, 55)
      GVB_LOAD(56, 57, 58, 59)
      GVB_LOAD(60, 61, 62, 63)
      GVB_LOAD(64, 65, 66, 67)
      GVB_LOAD(68, 69, 70, 71)
      GVB_LOAD(72, 73, 74, 75)
      GVB_LOAD(76, 77, 78, 79)
      GVB_LOAD(80, 81, 82, 83)
      GVB_LOAD(84, 85, 86, 87)
      GVB_LOAD(88, 89, 90, 91)
      GVB_LOAD(92, 93, 94, 95)
               // clang-format on
               "}"
               : GVB_OUT4(0), GVB_OUT4(4), GVB_OUT4(8), GVB_OUT4(12), GVB_OUT4(16), GVB_OUT4(20)
               : "l"(tag_at), "r"(fill)
               : "memory");

  const size_t thread = size_t(blockIdx.x) * blockDim.x + threadIdx.x, threads = size_t(gridDim.x) * blockDim.x;
#pragma unroll
  for (unsigned i = 0; i < kRegisterUnits; ++i) out[i * threads + thread] = make_uint4(any[i][0], any[i][1], any[i][2], any[i][3]);
}
// Leaves a pattern in its registers.
extern "C" __global__ void other(float* x, int n) { float a[32]; for (int i = 0; i < 32; ++i) a[i] = x[i]; for (int k = 0; k < n; ++k) for (int i = 0; i < 32; ++i) a[i] = a[i] * 1.0001f + a[(i + 1) % 32]; for (int i = 0; i < 32; ++i) x[i] = a[i]; }
#define C(x) do { cudaError_t e = (x); if (e) { printf("%s: %s\n", #x, cudaGetErrorString(e)); exit(1); } } while (0)
int sms, blocks; const int T = 256;
uint4 *out, *host, *tag; size_t n;
void look(const char* what) {
  C(cudaMemcpy(host, out, n * 16, cudaMemcpyDeviceToHost));
  size_t nonzero = 0; std::map<uint32_t, size_t> words; size_t per[24] = {}; size_t threads = size_t(blocks) * T; std::vector<size_t> perBlock(blocks), perWarp(8);
  for (size_t i = 0; i < n; ++i) { const uint4& u = host[i]; if (u.x | u.y | u.z | u.w) { ++nonzero; ++per[i / threads]; ++perBlock[(i % threads) / T]; ++perWarp[(i % T) / 32]; }
    for (uint32_t w : {u.x, u.y, u.z, u.w}) if (w) ++words[w]; }
  printf("%s: %.2f %% of %zu units are not zero, %zu different words\n  by unit of four registers, %%:", what, 100.0 * nonzero / n, n, words.size());
  for (auto p : per) printf(" %.0f", 100.0 * p / threads);
  printf("\n  by warp of a block, %%:"); for (auto p : perWarp) printf(" %.0f", 100.0 * p / (n / 8));
  std::sort(perBlock.begin(), perBlock.end()); printf("\n  by block, %%: %.0f %.0f %.0f\n", 100.0 * perBlock[0] / (24 * T), 100.0 * perBlock[blocks / 2] / (24 * T), 100.0 * perBlock[blocks - 1] / (24 * T));
  std::vector<std::pair<size_t, uint32_t>> top; for (auto& [w, c] : words) top.push_back({c, w}); std::sort(top.rbegin(), top.rend());
  printf("  most frequent:"); for (size_t i = 0; i < top.size() && i < 24; ++i) printf(" %08x (%zu)", top[i].second, top[i].first); printf("\n");
  for (size_t t : {size_t(0), size_t(1), threads / 2 + 37}) { printf("  thread %zu:", t); for (int i = 0; i < 24; ++i) { const uint4& u = host[i * threads + t]; printf(" [%x %x %x %x]", u.x, u.y, u.z, u.w); } printf("\n"); }
}
int main(int c, char** v) {
  cudaDeviceProp p; C(cudaGetDeviceProperties(&p, 0)); sms = p.multiProcessorCount; int per; C(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, dump, T, 0)); blocks = sms * per;
  cudaFuncAttributes a; C(cudaFuncGetAttributes(&a, dump)); n = size_t(blocks) * T * 24;
  printf("== %s: %s, %d registers, %d blocks of %d\n", v[1], p.name, a.numRegs, blocks, T);
  C(cudaMalloc(&out, n * 16)); host = (uint4*)malloc(n * 16); printf("out %p\n", out);
  if (!strcmp(v[1], "memset")) { C(cudaMalloc(&tag, 1 << 26)); C(cudaMemset(tag, 0x5a, 1 << 26)); C(cudaDeviceSynchronize()); }
  if (!strcmp(v[1], "write")) { C(cudaMalloc(&tag, 16)); uint32_t w[4] = {0xabad1dea, 0xabad1deb, 0xabad1dec, 0xabad1ded}; C(cudaMemcpy(tag, w, 16, cudaMemcpyHostToDevice)); for (int i = 0; i < 50; ++i) dump<<<blocks, T>>>(tag, 1, out); C(cudaDeviceSynchronize()); look("filled"); return 0; }
  if (!strcmp(v[1], "other")) { float* x; C(cudaMalloc(&x, 4096)); other<<<blocks * 4, T>>>(x, 100); C(cudaDeviceSynchronize()); }
  dump<<<blocks, T>>>(nullptr, 0, out); C(cudaDeviceSynchronize()); look("first");
  dump<<<blocks, T>>>(nullptr, 0, out); C(cudaDeviceSynchronize()); look("second");
}
