import { describe, expect, it } from 'vitest';
import { BenchError } from '../../../lib/errors/bench-error.js';
import { CudaError, fromNative } from '../../../lib/native/errors.js';

const native = (kind: string, more: object = {}) => Object.assign(new Error('what happened'), { kind, ...more });

describe('fromNative', () => {
  it.each([
    ['no-driver', 'NO_DRIVER'],
    ['function-missing', 'FUNCTION_MISSING'],
    ['driver-conflict', 'DRIVER_CONFLICT'],
    ['sim-settings', 'SIM_SETTINGS'],
    ['invalid-result', 'INVALID_RESULT'],
    ['no-such-device', 'NO_SUCH_DEVICE'],
  ])('%s becomes a BenchError with code %s and the same message', (kind, code) => {
    const error = fromNative(native(kind));
    expect(error).toBeInstanceOf(BenchError);
    expect(error).toMatchObject({ name: 'BenchError', code, message: 'what happened' });
  });

  it('a failed call becomes a CudaError that names it', () => {
    const error = fromNative(
      native('cuda', {
        code: 700,
        codeName: 'CUDA_ERROR_ILLEGAL_ADDRESS',
        call: 'cuCtxSynchronize',
        attempt: 'waiting',
      }),
    );
    expect(error).toBeInstanceOf(CudaError);
    expect(error).toMatchObject({
      name: 'CUDA_ERROR_ILLEGAL_ADDRESS',
      code: 700,
      call: 'cuCtxSynchronize',
      message: 'cuCtxSynchronize returned CUDA_ERROR_ILLEGAL_ADDRESS (700) while waiting.',
    });
  });

  it.each([
    [46, 'nvidia-smi -q -d COMPUTE'],
    [802, 'sudo systemctl restart nvidia-fabricmanager'],
    [803, 'sudo reboot'],
    [804, 'unset LD_LIBRARY_PATH'],
  ])('code %i of cuInit comes with its cause and %s', (code, command) => {
    const failure = { code, codeName: 'CUDA_ERROR_X', call: 'cuInit', attempt: 'initialising the driver' };
    const { message } = fromNative(native('cuda', failure)) as Error;
    expect(message).toMatch(/^cuInit returned CUDA_ERROR_X \(\d+\) while initialising the driver\. [A-Z].+: /);
    expect(message.endsWith(command)).toBe(true);
    const later = fromNative(native('cuda', { ...failure, call: 'cuCtxSynchronize' })) as Error;
    expect(later.message).toMatch(/while initialising the driver\.$/);
  });

  it.each([[new Error('mine')], ['a string'], [undefined], [0]])('an abort becomes its reason %s', (reason) =>
    expect(fromNative(native('aborted'), AbortSignal.abort(reason))).toEqual(
      reason === undefined ? expect.objectContaining({ name: 'AbortError' }) : reason,
    ),
  );

  it('an unrequested abort is unchanged', () => {
    const failure = native('aborted');
    expect(fromNative(failure, new AbortController().signal)).toBe(failure);
    expect(fromNative(failure)).toBe(failure);
  });

  it.each([[new TypeError('x')], [native('news')], [null], [{ kind: 'cuda' }]])('does not change %s', (other) =>
    expect(fromNative(other)).toBe(other),
  );
});
