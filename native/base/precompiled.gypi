# Reads standard_headers.h, in most cases as it was precompiled.
{
  "dependencies": ["headers"],
  "cflags_cc": ["-include", "standard_headers.h", "-Winvalid-pch", "-Wno-error=invalid-pch"],
}
