// Ways to read the memory of a running tenant (IS-005). Success is judged by the bytes read, never by a return code
// alone.
#pragma once

#include <cstdint>
#include <string>

#include "bench/residue.h"

namespace gvb {

struct BaitRequest {
  std::string tag;
};

// What a victim leaves open to attacks: blocks with the tag, which stay until the session ends.
struct Bait {
  std::string address;        // digits of base 16, of a block that is shared with nobody
  std::string ipc_handle;     // likewise, of a block that the victim shares
  std::string stale_handle;   // of a block that it shared and freed since
  int64_t descriptor = -1;    // of a shareable handle, in the victim's process; -1: it could not be made
  uint64_t bytes = 0;         // of each
  uint64_t tagged_bytes = 0;  // the least that the victim's own scan of a block found
  std::string no_ipc;         // why there are no handles; empty: there are
  std::string no_descriptor;
};
Bait lay_bait(DeviceSession& session, const BaitRequest& request);

enum class Attack { kIpcHandle, kDescriptor, kAddress };

struct AttackRequest {
  Attack attack = Attack::kIpcHandle;
  std::string target;  // a handle, an address, or PID:DESCRIPTOR
  std::string mark;
  size_t bytes = 0;
};

struct AttackAnswer {
  int code = 0;  // of the call that refused; 0: none did
  std::string name;
  uint64_t tagged_bytes = 0;
  uint64_t other_bytes = 0;
};
// kAddress: the process is to be lost.
AttackAnswer attack_memory(DeviceSession& session, const AttackRequest& request);

}  // namespace gvb
