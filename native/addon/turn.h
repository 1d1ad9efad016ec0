// The turn to measure, of which a process has one, however many copies of the addon it has loaded (two versions of the
// package, or two paths to one).
#pragma once

namespace gvb {

// Does not wait.
bool take_turn_of_process();
void end_turn_of_process();

}  // namespace gvb
