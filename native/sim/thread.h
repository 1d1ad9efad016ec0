#pragma once

namespace gvb::sim {

// A detached thread that takes none of the program's signals. False when it could not be started.
bool startThread(void* (*body)(void*), void* argument);

}  // namespace gvb::sim
