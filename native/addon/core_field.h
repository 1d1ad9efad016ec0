// The request field for the processor that a block is measured on.
#pragma once

namespace gvb {

inline constexpr const char* kCoreDoc = "Index of the processor to use among those that the thread may use.";

}  // namespace gvb
