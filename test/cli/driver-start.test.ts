/** A driver that refuses to start: every command says why, and what to do. */
import { expect, it } from 'vitest';
import { command } from './command.js';

const codes = [
  [46, 'CUDA_ERROR_DEVICE_UNAVAILABLE', 'nvidia-smi -q -d COMPUTE'],
  [100, 'CUDA_ERROR_NO_DEVICE', 'nvidia-smi -L'],
  [802, 'CUDA_ERROR_SYSTEM_NOT_READY', 'sudo systemctl restart nvidia-fabricmanager'],
  [803, 'CUDA_ERROR_SYSTEM_DRIVER_MISMATCH', 'sudo reboot'],
  [804, 'CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE', 'unset LD_LIBRARY_PATH'],
] as const;
const commands = [
  ['run', 'OH-002', '--simulate', '--iterations', '5', '--json', '-'],
  ['compare', 'OH-002', '--simulate', '--rounds', '1', '--system', 'native', '--system', 'native:name=b'],
];

it.each(codes)('code %i', async (code, name, remedy) => {
  for (const one of commands) {
    const { stderr, code: exit } = await command(one, { GVB_SIM: `fail=cuInit:${code}@1` });
    expect(exit, one[0]).toBeGreaterThan(0);
    expect(stderr).toMatch(new RegExp(`^error: cuInit returned ${name} \\(${code}\\) while .+: ${remedy}$`, 'm'));
  }
});
