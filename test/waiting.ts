import { vi } from 'vitest';
import { WAIT_MS } from './limits.js';

/** Waits until the check passes. `expect.poll` cannot assign checks to tests that run concurrently. */
export const passing = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: WAIT_MS });
