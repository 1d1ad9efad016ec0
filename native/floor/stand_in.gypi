# One of the stand-ins of floor.c.
{
  "inputs": ["floor.c", "floor.map"],
  "outputs": ["<(PRODUCT_DIR)/floor/<(library)"],
  "action": [
    "$(CC.target)", "-shared", "-fPIC", "-nostdlib", "-Wno-builtin-declaration-mismatch", "<(define)",
    "-Wl,-soname,<(library)", "-Wl,--version-script=native/floor/floor.map",
    "-o", "<(PRODUCT_DIR)/floor/<(library)", "native/floor/floor.c",
  ],
}
