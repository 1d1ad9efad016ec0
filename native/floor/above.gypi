# Links against the stand-ins before anything else can offer newer versions.
{
  "sources": ["single_threaded.cpp"],
  "dependencies": ["floor"],
  "libraries": [
    "-Wl,--push-state,--no-as-needed",
    "<(PRODUCT_DIR)/floor/libpthread.so.0",
    "<(PRODUCT_DIR)/floor/libdl.so.2",
    "<(PRODUCT_DIR)/floor/librt.so.1",
    "-Wl,--pop-state",
  ],
}
