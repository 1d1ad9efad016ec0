#pragma once

#include "sim/work/context.h"

namespace gvb::sim {

// A green context as a thread's current one: its primary context, with streams on a part of the multiprocessors.
struct GreenView {
  Context* context = nullptr;
  SmPart part;
  Stream* default_stream = nullptr;
};

// Null if the handle was not made by cuCtxFromGreenCtx, or its green context is gone.
const GreenView* green_view(abi::CUcontext handle);

}  // namespace gvb::sim
