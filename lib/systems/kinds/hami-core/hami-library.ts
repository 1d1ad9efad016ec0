/** Where HAMi's device plugin puts the library: the default of `hami-core`. */
export const HAMI_LIBRARY = '/usr/local/vgpu/libvgpu.so';
