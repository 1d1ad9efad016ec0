#pragma once

namespace gvb::sim {

// A detached thread that takes none of the program's signals. It stands for the device: a calling thread that is bound
// to one processor does not bind it. False when it could not be started.
bool startThread(void* (*body)(void*), void* argument);

// Of the calling thread, where there is another processor for it: a program that waits for its device keeps its own
// processor, and a device that shared it would answer only when the scheduler takes turns, milliseconds later.
void leaveProcessor(int processor);

}  // namespace gvb::sim
