#include "bench/llm/decode_product.h"

#include <algorithm>

#include "bench/llm/tensor_map.h"
#include "bench/shared_room.h"
#include "kernels/decode_product_shape.h"

namespace gvb {

namespace {

using namespace decode_product;

struct Tokens {
  unsigned m, k;
};

unsigned stages_within(unsigned room, const Tokens& of) {
  const unsigned fixed = decode_product::shared_bytes(of.m, of.k, 0);
  return fixed >= room ? 0 : std::min(kMostStages, (room - fixed) / kStageBytes);
}

bool two_fit(const SharedRoom& room, unsigned m, unsigned k) {
  return stages_within(room.of_two, {m, k}) >= kFewestStages;
}

unsigned rounded_up(unsigned count, unsigned each) { return (count + each - 1) / each; }

}  // namespace

bool DecodeProduct::fits(const DeviceSession& session, const Sizes& sizes) {
  return sizes.sequences <= kMostTokens && sizes.hidden <= kMostNormed &&
         stages_within(shared_room(session).most, {sizes.sequences, std::max(sizes.hidden, sizes.mlp)}) >=
             kFewestStages;
}

// Two blocks per multiprocessor if they fit: one copies while the other adds up. The results do not depend on the
// number of blocks.
DecodeProduct::DecodeProduct(const DeviceSession& session, abi::CUfunction kernel, const DecodeProductShape& shape)
    : kernel_(kernel), shape_(shape) {
  const SharedRoom room = shared_room(session);
  const bool two = two_fit(room, shape.m, shape.k);
  stages_ = stages_within(two ? room.of_two : room.most, {shape.m, shape.k});
  const auto count = device_attribute(session.cuda, session.device, abi::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  const unsigned most = (two ? 2 : 1) * static_cast<unsigned>(std::max(1, count.value_or(1)));
  const unsigned groups = rounded_up(shape.n, kRows);
  blocks_ = rounded_up(groups, rounded_up(groups, most));
  allow_shared_memory(session.cuda, kernel, room.most);
}

void DecodeProduct::launch(const StepLaunch& launch, abi::CUstream stream, const Operands& operands,
                           abi::CUdeviceptr counter) const {
  Operands at = operands;
  DecodeProductShape shape = shape_;
  unsigned gated = shape.gated ? 1 : 0, stages = stages_;
  void* parameters[] = {&at.x,       &at.residual, &at.delta, &at.gain,        &at.sum,       &at.normalised,
                        &at.weights, &at.y,        &counter,  &at.delta_scale, &at.out_scale, &shape.m,
                        &shape.n,    &shape.k,     &gated,    &stages};
  launch(stream, kernel_, {blocks_, 1, 1, kThreads, decode_product::shared_bytes(shape.m, shape.k, stages)},
         parameters);
}

}  // namespace gvb
