#include "base/secret.h"

#include <sys/random.h>

#include "base/clock.h"

namespace gvb {

uint64_t secret() {
  uint64_t value = 0;
  if (getrandom(&value, sizeof value, 0) != sizeof value) value = static_cast<uint64_t>(now_ns());
  return value;
}

}  // namespace gvb
