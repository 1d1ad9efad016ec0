import { capitalised } from './plain.js';

/** Headings of categories that are not just the name with a capital. */
const TITLES: Readonly<Record<string, string>> = { llm: 'LLM' };

export const categoryTitle = (name: string): string =>
  (Object.hasOwn(TITLES, name) && TITLES[name]) || capitalised(name);
