// libstdc++ asks glibc (2.32 and newer) whether the process has only one thread, to avoid atomic operations. Older
// glibc lacks that flag; this definition, found first, answers "no" everywhere.
extern "C" {
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;  // NOLINT(bugprone-reserved-identifier)
}
