#pragma once

#include <cstdint>

namespace gvb::sim {

// The default memory pool of a card in this process. Reserved memory is what the card has given; used what the
// program holds of it. Synchronising returns what exceeds the release threshold.
bool poolTake(int device, int64_t bytes);
void poolGive(int device, int64_t bytes);
void poolTrim(int device, int64_t keep);
void poolTrimToThreshold(int device);

}  // namespace gvb::sim
