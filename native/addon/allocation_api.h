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

}  // namespace gvb
