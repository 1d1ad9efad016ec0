import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { expect, it } from 'vitest';
import { page } from '../cards/page.js';

const file = join(fileURLToPath(new URL('../..', import.meta.url)), 'docs/cards.md');

it('is written from what the tests of cards expect (vitest -u writes it)', async () => {
  const written = await format(page, { ...(await resolveConfig(file)), filepath: file });
  await expect(written).toMatchFileSnapshot(file);
});
