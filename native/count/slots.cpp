#include "count/slots.h"

#define GVB_TEXT(x) #x
#define GVB_EXPAND(x) GVB_TEXT(x)
// Must match kSlots and the layout of Table.
#define GVB_SLOTS 2528
#define GVB_FIRST_SLOT 4096
#if defined(__x86_64__)
#define GVB_ENTRY_BYTES 32
#elif defined(__aarch64__)
#define GVB_ENTRY_BYTES 64
#endif

namespace gvb::count {

static_assert(kSlots == GVB_SLOTS && offsetof(Table, slots) == GVB_FIRST_SLOT);

namespace {

Table own_table;

}  // namespace

extern "C" {
__attribute__((used, visibility("hidden"))) std::atomic<Table*> gvb_count_table{&own_table};
extern __attribute__((visibility("hidden"))) char gvb_count_entries[];
extern __attribute__((visibility("hidden"))) std::atomic<void*> gvb_count_targets[];
extern __attribute__((visibility("hidden"))) char gvb_count_first_call[];
}

// An entry: a landing pad for indirect jumps, the counter, the slot's number for the first call, the jump. It uses only
// caller-saved registers that hold no argument, and nothing below the stack pointer.
#if defined(__x86_64__)
__asm__(
    ".text\n.balign 32\n.hidden gvb_count_entries\n.globl gvb_count_entries\n"
    ".type gvb_count_entries, @function\ngvb_count_entries:\n"
    "gvb_count_i = 0\n"
    ".rept " GVB_EXPAND(GVB_SLOTS) "\n"
    "  .balign " GVB_EXPAND(GVB_ENTRY_BYTES) "\n"
    "  endbr64\n"
    "  movq gvb_count_table(%rip), %r11\n"
    "  lock incq " GVB_EXPAND(GVB_FIRST_SLOT) " + gvb_count_i * 128(%r11)\n"
    "  movl $gvb_count_i, %r11d\n"
    "  jmp *gvb_count_targets + gvb_count_i * 8(%rip)\n"
    "  gvb_count_i = gvb_count_i + 1\n"
    ".endr\n"
    ".size gvb_count_entries, . - gvb_count_entries\n"
    // Saves every register that may hold an argument; some functions take floats.
    ".hidden gvb_count_first_call\n.globl gvb_count_first_call\n"
    ".type gvb_count_first_call, @function\ngvb_count_first_call:\n"
    "  endbr64\n"
    "  pushq %rbp\n  movq %rsp, %rbp\n"
    "  pushq %rdi\n  pushq %rsi\n  pushq %rdx\n  pushq %rcx\n  pushq %r8\n  pushq %r9\n"
    "  subq $128, %rsp\n"
    "  movups %xmm0, (%rsp)\n  movups %xmm1, 16(%rsp)\n  movups %xmm2, 32(%rsp)\n  movups %xmm3, 48(%rsp)\n"
    "  movups %xmm4, 64(%rsp)\n  movups %xmm5, 80(%rsp)\n  movups %xmm6, 96(%rsp)\n  movups %xmm7, 112(%rsp)\n"
    "  movl %r11d, %edi\n"
    "  call gvb_count_resolve\n"
    "  movups (%rsp), %xmm0\n  movups 16(%rsp), %xmm1\n  movups 32(%rsp), %xmm2\n  movups 48(%rsp), %xmm3\n"
    "  movups 64(%rsp), %xmm4\n  movups 80(%rsp), %xmm5\n  movups 96(%rsp), %xmm6\n  movups 112(%rsp), %xmm7\n"
    "  addq $128, %rsp\n"
    "  popq %r9\n  popq %r8\n  popq %rcx\n  popq %rdx\n  popq %rsi\n  popq %rdi\n  popq %rbp\n"
    "  jmp *%rax\n"
    ".size gvb_count_first_call, . - gvb_count_first_call\n");
#define GVB_FUNCTION_TYPE "@function"
#elif defined(__aarch64__)
__asm__(
    ".text\n.balign 64\n.hidden gvb_count_entries\n.globl gvb_count_entries\n"
    ".type gvb_count_entries, %function\ngvb_count_entries:\n"
    ".set gvb_count_i, 0\n"
    ".rept " GVB_EXPAND(GVB_SLOTS) "\n"
    "  .balign " GVB_EXPAND(GVB_ENTRY_BYTES) "\n"
    "  hint #34\n"  // bti c
    "  adrp x16, gvb_count_table\n"
    "  ldr x16, [x16, :lo12:gvb_count_table]\n"
    "  add x16, x16, #((" GVB_EXPAND(GVB_FIRST_SLOT) " + gvb_count_i * 128) >> 12), lsl #12\n"
    "  add x16, x16, #((" GVB_EXPAND(GVB_FIRST_SLOT) " + gvb_count_i * 128) & 4095)\n"
    "1: ldxr x17, [x16]\n"
    "  add x17, x17, #1\n"
    "  stxr w9, x17, [x16]\n"
    "  cbnz w9, 1b\n"
    "  movz w17, #gvb_count_i\n"
    "  adrp x16, gvb_count_targets + gvb_count_i * 8\n"
    "  ldr x16, [x16, :lo12:gvb_count_targets + gvb_count_i * 8]\n"
    "  br x16\n"
    "  .set gvb_count_i, gvb_count_i + 1\n"
    ".endr\n"
    ".size gvb_count_entries, . - gvb_count_entries\n"
    ".hidden gvb_count_first_call\n.globl gvb_count_first_call\n"
    ".type gvb_count_first_call, %function\ngvb_count_first_call:\n"
    "  hint #34\n"
    "  stp x29, x30, [sp, #-224]!\n  mov x29, sp\n"
    "  stp x0, x1, [sp, #16]\n  stp x2, x3, [sp, #32]\n  stp x4, x5, [sp, #48]\n  stp x6, x7, [sp, #64]\n"
    "  str x8, [sp, #80]\n"
    "  stp q0, q1, [sp, #96]\n  stp q2, q3, [sp, #128]\n  stp q4, q5, [sp, #160]\n  stp q6, q7, [sp, #192]\n"
    "  mov w0, w17\n"
    "  bl gvb_count_resolve\n"
    "  mov x16, x0\n"
    "  ldp q0, q1, [sp, #96]\n  ldp q2, q3, [sp, #128]\n  ldp q4, q5, [sp, #160]\n  ldp q6, q7, [sp, #192]\n"
    "  ldr x8, [sp, #80]\n"
    "  ldp x6, x7, [sp, #64]\n  ldp x4, x5, [sp, #48]\n  ldp x2, x3, [sp, #32]\n  ldp x0, x1, [sp, #16]\n"
    "  ldp x29, x30, [sp], #224\n"
    "  br x16\n"
    ".size gvb_count_first_call, . - gvb_count_first_call\n");
#define GVB_FUNCTION_TYPE "%function"
#endif

// Filled by the dynamic loader, so that calls work before any constructor has run.
__asm__(
    ".section .data.rel, \"aw\"\n.balign 8\n.hidden gvb_count_targets\n.globl gvb_count_targets\n"
    "gvb_count_targets:\n.rept " GVB_EXPAND(GVB_SLOTS) "\n.quad gvb_count_first_call\n.endr\n.text\n");

// __COUNTER__ is unused before this, so the n-th name has slot n.
static_assert(__COUNTER__ == 0);
#define GVB_EXPORT(name, slot)                                    \
  __asm__(".globl " #name "\n.type " #name ", " GVB_FUNCTION_TYPE \
          "\n"                                                    \
          ".set " #name ", gvb_count_entries + " GVB_EXPAND(slot) " * " GVB_EXPAND(GVB_ENTRY_BYTES) "\n");
#define GVB_NAME(name) GVB_EXPORT(name, (__COUNTER__ - 1))
#include "count/exported_names.inc"
#undef GVB_NAME

namespace {

constexpr const char* kExported[] = {
#define GVB_NAME(name) #name,
#include "count/exported_names.inc"
#undef GVB_NAME
};
constexpr size_t kExportedCount = sizeof(kExported) / sizeof(kExported[0]);
static_assert(kExportedCount < kSlots);

}  // namespace

Table& table() { return *gvb_count_table.load(std::memory_order_acquire); }
Table& first_table() { return own_table; }
void use_table(Table& next) { gvb_count_table.store(&next); }

size_t exported_count() { return kExportedCount; }
const char* exported_name(size_t slot) { return kExported[slot]; }

void* entry(size_t slot) { return gvb_count_entries + slot * GVB_ENTRY_BYTES; }

bool is_entry(const void* address) {
  return address >= gvb_count_entries && address < gvb_count_entries + kSlots * GVB_ENTRY_BYTES;
}

void* target(size_t slot) { return gvb_count_targets[slot].load(std::memory_order_acquire); }
bool has_target(size_t slot) { return target(slot) != gvb_count_first_call; }

Claim claim(size_t slot, void* address) {
  void* found = gvb_count_first_call;
  if (gvb_count_targets[slot].compare_exchange_strong(found, address)) return Claim::kNew;
  return found == address ? Claim::kSame : Claim::kOther;
}

}  // namespace gvb::count
