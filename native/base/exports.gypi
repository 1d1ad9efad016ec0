# A library offers no name but its own interface: none of the C++ library's that it was linked with, which would replace
# those of the program that it is loaded into. The linker leaves out what is neither offered nor used.
{
  "ldflags": ["-Wl,-Bsymbolic", "-Wl,--version-script=<(module_root_dir)/native/base/exports.map"],
}
