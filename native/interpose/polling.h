// A thread that uses a known share of one processor, as a layer does that polls.
#pragma once

namespace gvb::interpose {

// From 0 to 1. The thread lives as long as the process.
void start_polling(double share);

}  // namespace gvb::interpose
