// Passes what the program prints on to whoever reads the keeper's output, without a copy in this process's memory.
#pragma once

#include <poll.h>

namespace gvb::keeper {

class Relay {
 public:
  Relay(int from, int to) : from_(from), to_(to) {}

  bool open() const { return from_ >= 0; }
  // What to wait for: something to read, or, while there is, room to write it.
  pollfd wanted() const { return {is_full_ ? to_ : from_, static_cast<short>(is_full_ ? POLLOUT : POLLIN), 0}; }
  // After `wanted` is there. Answers whether anything moved.
  bool move();
  void close_both();

 private:
  int from_;
  int to_;
  bool is_full_ = false;
};

}  // namespace gvb::keeper
