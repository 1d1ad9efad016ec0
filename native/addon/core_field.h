// What requests say of the processor a block is measured on.
#pragma once

namespace gvb {

inline constexpr const char* kCoreDoc = "Whose turn it is, counted around the processors that the thread may use.";

}  // namespace gvb
