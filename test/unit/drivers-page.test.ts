import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { expect, it } from 'vitest';
import { page } from '../functions/page.js';

const file = join(fileURLToPath(new URL('../..', import.meta.url)), 'docs/drivers.md');

it('is written from what is lost without each function (vitest -u writes it)', async () => {
  const written = await format(page, { ...(await resolveConfig(file)), filepath: file });
  await expect(written).toMatchFileSnapshot(file);
});
