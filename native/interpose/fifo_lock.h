// A first-come, first-served lock among all threads of all processes that share its state. It skips threads that died.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace gvb::interpose {

class FifoLock {
 public:
  // At most this many minus one may hold or wait for it at a time.
  static constexpr size_t kPlaces = 1024;

  // Private to this process.
  static std::unique_ptr<FifoLock> of_process();
  // Shared by all that pass the same file, which is created if missing. Throws std::invalid_argument with a message of
  // the form "Expected … but received …".
  static std::unique_ptr<FifoLock> of_file(const std::string& path);

  FifoLock(const FifoLock&) = delete;
  FifoLock& operator=(const FifoLock&) = delete;

  class Hold {
   public:
    // `stale_ns`: how much later it owns a lock whose owner, or somebody who waited for it, died.
    explicit Hold(FifoLock& lock, int64_t stale_ns = 0) : lock_(lock), place_(lock.enter(stale_ns)) {}
    ~Hold() { lock_.leave(place_); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    FifoLock& lock_;
    const uint64_t place_;
  };

 private:
  struct State {
    uint64_t magic;  // 0 until everything else is ready
    uint64_t next;
    pthread_mutex_t entrance;
    pthread_mutex_t places[kPlaces];
  };

  explicit FifoLock(State* state) : state_(state) {}
  static void initialise(State* state);
  uint64_t enter(int64_t stale_ns);
  void leave(uint64_t place);
  pthread_mutex_t* at(uint64_t place) { return &state_->places[place % kPlaces]; }

  State* const state_;  // stays mapped until the process ends
};

}  // namespace gvb::interpose
