import { describe, expect, it } from 'vitest';
import { exitCodes, firstOf } from '../../lib/cli/exit-codes.js';

describe('of several exit codes', () => {
  const { interrupted, usage, notAttested, gateFailed, failed, ok } = exitCodes;
  it.each([
    [[failed, gateFailed], gateFailed],
    [[gateFailed, notAttested], notAttested],
    [[notAttested, usage], usage],
    [[usage, interrupted, failed], interrupted],
    [[ok, failed], failed],
    [[ok], ok],
    [[], ok],
  ])('%j is %d', (codes, first) => expect(firstOf(codes)).toBe(first));
});
