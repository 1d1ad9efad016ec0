// Forwards the program's output to the reader of the keeper's output, without copying it through this process's memory.
#pragma once

#include <poll.h>

namespace gvb::keeper {

class Relay {
 public:
  Relay(int from, int to) : from_(from), to_(to) {}

  bool open() const { return from_ >= 0; }
  // What to poll for: something to read or, if the output is full, room to write.
  pollfd wanted() const { return {is_full_ ? to_ : from_, static_cast<short>(is_full_ ? POLLOUT : POLLIN), 0}; }
  // Call after `wanted` is ready. Returns whether anything was moved.
  bool move();
  // From now on the program does not see that its reader is gone: the signal would end it.
  void outlive_reader() { outlives_reader_ = true; }
  void close_both();

 private:
  int from_;
  int to_;
  bool is_full_ = false;
  bool outlives_reader_ = false;
};

}  // namespace gvb::keeper
