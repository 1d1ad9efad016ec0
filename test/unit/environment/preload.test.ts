import { describe, expect, it } from 'vitest';
import { mappedFiles, parseFile, parseVariable, preloadEntries } from '../../../lib/systems/proof/ld-preload.js';

const maps = `7f0000000000-7f0000001000 r-xp 00000000 08:01 42   /opt/vgpu/libvgpu.so
7f0000001000-7f0000002000 rw-p 00000000 00:00 0    [heap]
7f0000002000-7f0000003000 r-xp 00000000 08:01 43   /usr/lib/with space/libm.so.6 (deleted)
7f0000003000-7f0000004000 r--p 00001000 08:01 42   /opt/vgpu/libvgpu.so
`;

describe('LD_PRELOAD and /etc/ld.so.preload', () => {
  it('separates by colons and spaces', () =>
    expect(parseVariable(' /a.so:/b.so  c.so:')).toEqual(['/a.so', '/b.so', 'c.so']));
  it('does not separate by other white space, as the loader does not', () =>
    expect(parseVariable('/a\tb.so:/c\nd.so')).toEqual(['/a\tb.so', '/c\nd.so']));
  it('skips comments of the file', () =>
    expect(parseFile('# layer\n/a.so # why\n\n/b.so:/c.so\n')).toEqual(['/a.so', '/b.so', '/c.so']));
  it('lists mapped files once', () =>
    expect(mappedFiles(maps)).toEqual(['/opt/vgpu/libvgpu.so', '/usr/lib/with space/libm.so.6']));

  it.each([
    ['/opt/vgpu/libvgpu.so', '/opt/vgpu/libvgpu.so'],
    ['libvgpu.so', '/opt/vgpu/libvgpu.so'],
    ['/elsewhere/libvgpu.so', null],
    ['/opt/$LIB/libvgpu.so', '/opt/vgpu/libvgpu.so'],
  ])('finds %s mapped from %s', (entry, mapped) =>
    expect(preloadEntries({ LD_PRELOAD: entry }, mappedFiles(maps))[0]).toEqual({
      entry,
      source: 'LD_PRELOAD',
      mapped,
    }),
  );
});
