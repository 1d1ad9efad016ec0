// Threads in a process that belongs to another program: that program's signals are not delivered to them.
#pragma once

#include <functional>

namespace gvb {

enum class Processors {
  kCallers,    // those that the calling thread may use
  kProcesses,  // those of the process: a calling thread that is bound to one processor does not bind this one
};

// Starts a detached thread; false where there is none to be had. `body` must not throw.
bool start_thread(Processors processors, std::function<void()> body);

// Of the calling thread, where there is another processor for it: a program that waits for its device keeps its own
// processor, and a device that shared it would answer only when the scheduler takes turns, milliseconds later.
void leave_processor(int processor);

}  // namespace gvb
