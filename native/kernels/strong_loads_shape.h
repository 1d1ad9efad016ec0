// The loads of gvb_strong_loads, for the kernel, the measurement and the simulated driver.
#pragma once

namespace gvb {

constexpr unsigned kStrongLoads = 16;  // of each kind

}  // namespace gvb
