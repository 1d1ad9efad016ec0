#include "test/emulator/fibre.h"

#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace gvb::emulator {
namespace {

constexpr size_t kStackBytes = size_t{256} << 10;  // includes the red zones of a sanitizer

// makecontext passes only ints to the function it starts.
Fibre* starting = nullptr;

}  // namespace

Fibre::Fibre(std::function<void()> body) : body_(std::move(body)), stack_(new char[kStackBytes]) {
  getcontext(&own_);
  own_.uc_stack.ss_sp = stack_.get();
  own_.uc_stack.ss_size = kStackBytes;
  makecontext(&own_, enter, 0);
#if defined(__SANITIZE_THREAD__)
  own_tsan_ = __tsan_create_fiber(0);
#endif
}

Fibre::~Fibre() {
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(own_tsan_);
#endif
}

void Fibre::enter() {
  Fibre* self = starting;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &self->scheduler_stack_, &self->scheduler_stack_bytes_);
#endif
  self->body_();
}

void Fibre::resume() {
  starting = this;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&scheduler_fake_stack_, stack_.get(), kStackBytes);
#endif
#if defined(__SANITIZE_THREAD__)
  scheduler_tsan_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(own_tsan_, 0);
#endif
  swapcontext(&scheduler_, &own_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(scheduler_fake_stack_, nullptr, nullptr);
#endif
}

void Fibre::suspend() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&own_fake_stack_, scheduler_stack_, scheduler_stack_bytes_);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(scheduler_tsan_, 0);
#endif
  swapcontext(&own_, &scheduler_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(own_fake_stack_, &scheduler_stack_, &scheduler_stack_bytes_);
#endif
}

}  // namespace gvb::emulator
