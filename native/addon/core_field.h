// The request field for the processor that a block is measured on.
#pragma once

namespace gvb {

inline constexpr const char* kCoreDoc = "The processor to use, as a position among those that the thread may use.";

}  // namespace gvb
