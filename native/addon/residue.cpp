// Residues in memory that the reader never wrote, and attacks on other processes' memory.
#include "bench/residue.h"

#include "addon/topic.h"
#include "bench/memory_attack.h"

namespace gvb {

namespace {

const Choices<Surface> kSurfaces{"Surface",
                                 {{Surface::kAlloc, "cuMemAlloc"},
                                  {Surface::kPool, "cuMemAllocAsync"},
                                  {Surface::kVirtual, "cuMemCreate"},
                                  {Surface::kManaged, "cuMemAllocManaged"},
                                  {Surface::kArray, "cuArrayCreate"},
                                  {Surface::kPinned, "cuMemHostAlloc"},
                                  {Surface::kShared, "shared memory"},
                                  {Surface::kLocal, "local memory"},
                                  {Surface::kRegisters, "registers"}}};

const Choices<Attack> kAttacks{
    "", {{Attack::kIpcHandle, "ipcHandle"}, {Attack::kDescriptor, "descriptor"}, {Attack::kAddress, "address"}}};

}  // namespace

template <>
struct Fields<SurfaceRequest> : FieldsOf<SurfaceRequest> {
  static constexpr const char* kName = "SurfaceRequest";
  static constexpr const char* kDoc = "A tag and its mark are 32 hexadecimal digits each.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(surface).one_of(kSurfaces));
    visit(GVB_FIELD(mark).says("Mark of the tag to search for."));
    visit(GVB_FIELD(fill).says("Tag to write before the search; empty: nothing is written."));
    visit(GVB_FIELD(most_bytes).says("Maximum amount of memory to examine, in bytes."));
    visit(GVB_FIELD(for_ms).says("Time for which the search of on-chip memory is repeated."));
  }
};

template <>
struct Fields<SurfaceFound> : FieldsOf<SurfaceFound> {
  static constexpr const char* kName = "SurfaceFound";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).says("Examined bytes."));
    visit(GVB_FIELD(tagged_bytes));
    visit(GVB_FIELD(other_bytes).says("Bytes that are neither the tag nor zero."));
    visit(GVB_FIELD(unsupported).or_null().says("Reason why nothing could be examined; null if it could."));
  }
};

template <>
struct Fields<Released> : FieldsOf<Released> {
  static constexpr const char* kName = "Released";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes));
  }
};

template <>
struct Fields<TenantMemory> : FieldsOf<TenantMemory> {
  static constexpr const char* kName = "TenantMemory";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(free_bytes));
    visit(GVB_FIELD(total_bytes));
  }
};

template <>
struct Fields<BaitRequest> : FieldsOf<BaitRequest> {
  static constexpr const char* kName = "BaitRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(tag));
  }
};

template <>
struct Fields<Bait> : FieldsOf<Bait> {
  static constexpr const char* kName = "Bait";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(address).says("Address of a block that is not shared, in hexadecimal."));
    visit(GVB_FIELD(ipc_handle).or_null().says("Handle of a block that the victim shares, in hexadecimal."));
    visit(GVB_FIELD(stale_handle)
              .or_null()
              .says("Handle of a block that the victim shared and then freed, in hexadecimal."));
    visit(GVB_FIELD(descriptor)
              .says("Descriptor of a shareable handle in the victim's process; -1: it could not be created."));
    visit(GVB_FIELD(bytes).says("Size of each block in bytes."));
    visit(GVB_FIELD(tagged_bytes).says("Smallest number of tagged bytes that the victim's own scan found in a block."));
    visit(GVB_FIELD(no_ipc).or_null().says("Reason why there are no handles; null: there are."));
    visit(GVB_FIELD(no_descriptor).or_null());
  }
};

template <>
struct Fields<AttackRequest> : FieldsOf<AttackRequest> {
  static constexpr const char* kName = "AttackRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(attack).one_of(kAttacks));
    visit(GVB_FIELD(target).says("A handle, an address, or PID:DESCRIPTOR."));
    visit(GVB_FIELD(mark));
    visit(GVB_FIELD(bytes).above_zero());
  }
};

template <>
struct Fields<AttackAnswer> : FieldsOf<AttackAnswer> {
  static constexpr const char* kName = "AttackAnswer";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(code).says("Result of the call that was refused; 0: no call was refused."));
    visit(GVB_FIELD(name));
    visit(GVB_FIELD(tagged_bytes));
    visit(GVB_FIELD(other_bytes));
  }
};

namespace {

const Topic residue_topic{
    "Leftover memory",
    {in_session("visitSurface", visit_surface)
         .says("Searches memory that this process never wrote for a tag, or writes the tag first. The memory stays "
               "allocated until releaseSurfaces."),
     in_session("releaseSurfaces", release_surfaces).says("Frees the memory that visitSurface allocated."),
     in_session("tenantMemory", tenant_memory).says("Memory as cuMemGetInfo reports it to this process."),
     in_session("layBait", lay_bait).says("Leaves tagged blocks open to attacks."),
     in_session("attackMemory", attack_memory)
         .says("Tries to read the memory of another process. After the attack `address` this process is unusable.")}};

}  // namespace

}  // namespace gvb
