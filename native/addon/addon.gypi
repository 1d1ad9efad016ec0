# An addon of Node-API.
{
  "dependencies": ["measuring"],
  "cflags": ["-isystem", "<(module_root_dir)/<!(node -p \"require('node-addon-api').include_dir\")"],
  "defines": [
    "NAPI_VERSION=8",
    "NAPI_CPP_EXCEPTIONS",
    "NODE_ADDON_API_DISABLE_DEPRECATED",
    # In a worker_thread that is being ended no error can be thrown any more: without this the process aborts.
    "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS",
  ],
}
