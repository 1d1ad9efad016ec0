import { vi } from 'vitest';
import { WAIT_MS } from './limits.js';

/** Waits until the check passes. For tests that run side by side: `expect.poll` would not know whose check it is. */
export const passing = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: WAIT_MS });
