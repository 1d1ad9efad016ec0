// Keeps this program loadable on glibc 2.28. Start files since glibc 2.34 need a __libc_start_main of that version and
// no longer include the code that runs the program's constructors. This one replaces it: it calls the old version,
// which every glibc has, and passes it the constructors if the start files do not run them. Source: csu/libc-start.c
// and csu/elf-init.c of glibc 2.33 and 2.34.
using Main = int (*)(int, char**, char**);
using Init = void (*)(int, char**, char**);
using Void = void (*)();

extern "C" {

// The names are the linker's and the C library's. NOLINTBEGIN(bugprone-reserved-identifier)
int gvb_old_start(Main, int, char**, Init, Void, Void, void*);
#if defined(__x86_64__)
__asm__(".symver gvb_old_start, __libc_start_main@GLIBC_2.2.5");
#else
__asm__(".symver gvb_old_start, __libc_start_main@GLIBC_2.17");
#endif

extern const Init __init_array_start[] __attribute__((visibility("hidden")));
extern const Init __init_array_end[] __attribute__((visibility("hidden")));

static void construct(int count, char** arguments, char** environment) {
  for (const Init* each = __init_array_start; each != __init_array_end; ++each) (*each)(count, arguments, environment);
}

int __libc_start_main(Main main, int count, char** arguments, Init init, Void fini, Void loader_fini, void* stack) {
  return gvb_old_start(main, count, arguments, init ? init : construct, fini, loader_fini, stack);
}
// NOLINTEND(bugprone-reserved-identifier)
}
