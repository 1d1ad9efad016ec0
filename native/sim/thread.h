#pragma once

namespace gvb::sim {

// A detached thread that takes none of the program's signals. It stands for the device: a calling thread that is bound
// to one processor does not bind it. False when it could not be started.
bool startThread(void* (*body)(void*), void* argument);

}  // namespace gvb::sim
