// The names of the ways to allocate device memory, which requests of several topics use.
#pragma once

#include "addon/fields.h"
#include "bench/blocks.h"

namespace gvb {

inline const Choices<AllocationApi> kAllocationApis{"AllocationApi",
                                                    {{AllocationApi::kMemAlloc, "cuMemAlloc"},
                                                     {AllocationApi::kMemCreate, "cuMemCreate"},
                                                     {AllocationApi::kAllocAsync, "cuMemAllocAsync"},
                                                     {AllocationApi::kAllocFromPool, "cuMemAllocFromPoolAsync"}}};

inline constexpr const char* kCreateDoc = "For virtual memory: cuMemCreate alone, without the mapping.";
inline constexpr const char* kBareDoc = "Whether to call the driver's own functions, past a layer.";

}  // namespace gvb
