import { capitalised } from './plain.js';

/** The heading of a category: its name with a capital, or as the field writes it. */
const TITLES: Readonly<Record<string, string>> = {
  llm: 'LLM',
  cache: 'L2 cache',
  pcie: 'PCIe',
  nccl: 'NCCL and peer copies',
  'error-recovery': 'Error recovery',
};

export const categoryTitle = (name: string): string =>
  (Object.hasOwn(TITLES, name) && TITLES[name]) || capitalised(name);
