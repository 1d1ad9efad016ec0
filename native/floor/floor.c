// Link-time stand-ins for the libraries that glibc 2.34 merged into libc. Linking against them binds our objects to the
// old versions of these symbols, which every glibc since 2.28 (and long before) offers, whatever the build machine has.
// They are never loaded: at run time the system's own libpthread.so.0, libdl.so.2 and librt.so.1 take their place.

#if defined(__x86_64__)
#define FLOOR(name) SYMBOL(name, GLIBC_2.2.5)
#define FLOOR_X64(name, version) SYMBOL(name, version)
#else
#define FLOOR(name) SYMBOL(name, GLIBC_2.17)
#define FLOOR_X64(name, version) SYMBOL(name, GLIBC_2.17)
#endif

#define SYMBOL(name, version)        \
  void stand_in_##name(void) {} \
  __asm__(".symver stand_in_" #name ", " #name "@@" #version);

#ifdef FLOOR_PTHREAD
FLOOR(__pthread_key_create)
FLOOR(pthread_create)
FLOOR(pthread_detach)
FLOOR(pthread_getspecific)
FLOOR(pthread_join)
FLOOR(pthread_key_create)
FLOOR(pthread_key_delete)
FLOOR(pthread_mutex_timedlock)
FLOOR(pthread_mutex_trylock)
FLOOR(pthread_mutexattr_destroy)
FLOOR(pthread_mutexattr_init)
FLOOR(pthread_mutexattr_setpshared)
FLOOR(pthread_once)
FLOOR(pthread_rwlock_rdlock)
FLOOR(pthread_rwlock_unlock)
FLOOR(pthread_rwlock_wrlock)
FLOOR(pthread_setspecific)
FLOOR(pthread_sigmask)
FLOOR(sem_init)
FLOOR(sem_post)
FLOOR(sem_wait)
FLOOR_X64(pthread_condattr_setclock, GLIBC_2.3.3)
FLOOR_X64(pthread_mutex_consistent, GLIBC_2.12)
FLOOR_X64(pthread_mutexattr_setrobust, GLIBC_2.12)
#endif

#ifdef FLOOR_DL
FLOOR(dladdr)
FLOOR(dlclose)
FLOOR(dlerror)
FLOOR(dlopen)
FLOOR(dlsym)
FLOOR(dlvsym)
FLOOR_X64(dladdr1, GLIBC_2.3.3)
FLOOR_X64(dlinfo, GLIBC_2.3.3)
#endif

#ifdef FLOOR_RT
FLOOR(shm_open)
FLOOR(shm_unlink)
#endif
