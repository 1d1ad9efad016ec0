// The part of a checkpoint that happens in the target's own process.
#pragma once

namespace gvb::sim {

// Starts the thread that a controller asks. Does nothing if it runs already.
void become_checkpoint_target();

// A process that ends by itself is not one that was killed while it was restored.
void leave_as_checkpoint_target();

}  // namespace gvb::sim
