// A thread that uses a known share of one processor, like a layer that polls.
#pragma once

namespace gvb::interpose {

// `share` is from 0 to 1. The thread lives as long as the process.
void start_polling(double share);

}  // namespace gvb::interpose
