#include "bench/llm/normal.h"

#include <algorithm>

#include "bench/kept_modules.h"

namespace gvb {

namespace {

constexpr unsigned kNormalThreads = 256;
constexpr uint64_t kMostNormalBlocks = 4096;

unsigned blocks_for(uint64_t count) {
  return static_cast<unsigned>(std::min((count + kNormalThreads - 1) / kNormalThreads, kMostNormalBlocks));
}

}  // namespace

void fill_normal(DeviceSession& session, abi::CUstream stream, const NormalFill& fill) {
  if (fill.count == 0) return;
  const abi::CUfunction kernel = kept_module(session, "normal").function("gvb_normal");
  NormalFill values = fill;
  auto number = static_cast<unsigned>(fill.number);
  void* parameters[] = {&values.pointer, &values.count, &values.seed, &number};
  GVB_CALL(session.cuda, "filling inputs", cuLaunchKernel, kernel, blocks_for(fill.count), 1, 1, kNormalThreads, 1, 1,
           0, stream, parameters, nullptr);
}

void fill_normal_part(DeviceSession& session, abi::CUstream stream, const NormalPart& part) {
  const abi::CUfunction kernel = kept_module(session, "normal").function("gvb_normal_part");
  NormalPart values = part;
  auto number = static_cast<unsigned>(part.number);
  void* parameters[] = {&values.pointer, &values.rows, &values.columns, &values.stride,
                        &values.first,   &values.seed, &number};
  GVB_CALL(session.cuda, "filling a part of a matrix", cuLaunchKernel, kernel, blocks_for(part.rows * part.columns), 1,
           1, kNormalThreads, 1, 1, 0, stream, parameters, nullptr);
}

}  // namespace gvb
