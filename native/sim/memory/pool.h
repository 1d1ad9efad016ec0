#pragma once

#include <cstdint>

namespace gvb::sim {

// The default memory pool of a card in this process. Reserved memory is what the card has given; used what the
// program holds of it. Synchronising returns what exceeds the release threshold.
bool pool_take(int device, int64_t bytes);
void pool_give(int device, int64_t bytes);
void pool_trim(int device, int64_t keep);
void pool_trim_to_threshold(int device);

}  // namespace gvb::sim
