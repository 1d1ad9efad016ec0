# Links against the stand-ins before anything else can offer newer versions.
{
  "dependencies": ["floor"],
  # single_threaded.cpp and no_demangler.cpp, from the library `base`: also where only the C++ library asks for them.
  "ldflags": ["-Wl,-u,__libc_single_threaded", "-Wl,-u,__cxa_demangle"],
  "libraries": [
    "-Wl,--push-state,--no-as-needed",
    "<(PRODUCT_DIR)/floor/libpthread.so.0",
    "<(PRODUCT_DIR)/floor/libdl.so.2",
    "<(PRODUCT_DIR)/floor/librt.so.1",
    "-Wl,--pop-state",
  ],
}
