// Threads inside another program's process: that program's signals are not delivered to them.
#pragma once

#include <functional>

namespace gvb {

enum class Processors {
  kCallers,    // those that the calling thread may use
  kProcesses,  // those of the process, even if the calling thread is bound to one processor
};

// Starts a detached thread; false if the system cannot create one. `body` must not throw.
bool start_thread(Processors processors, std::function<void()> body);

// Moves the calling thread away from `processor` if it may use another one. A program that waits for its device keeps
// its processor busy; a device thread on the same one would answer only when the scheduler switches, milliseconds
// later.
void leave_processor(int processor);

}  // namespace gvb
