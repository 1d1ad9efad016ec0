// libstdc++ asks glibc (2.32 and newer) whether the process has one thread only, to spare atomic operations. Older
// glibc has no such flag; this one, found first, answers "no" everywhere.
extern "C" {
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;  // NOLINT(bugprone-reserved-identifier)
}
