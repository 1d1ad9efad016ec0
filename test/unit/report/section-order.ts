/** The order of a report's sections, which is that of their list. */
import { expect } from 'vitest';
import { type SectionId, sections } from '../../../lib/report/sections.js';

/** Expects sections in the order of the list, with at least these. */
export function expectSections(found: readonly (string | undefined)[], needed: readonly SectionId[]): void {
  expect(found).toEqual(sections.map(({ id }) => id).filter((id) => found.includes(id)));
  expect(found).toEqual(expect.arrayContaining([...needed]));
}
