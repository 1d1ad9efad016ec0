import { expect, it } from 'vitest';
import { categoryTitle } from '../../../lib/results/text/category-title.js';

it.each([
  ['overhead', 'Overhead'],
  ['start-up', 'Start-up'],
  ['llm', 'LLM'],
  ['nccl', 'NCCL and peer copies'],
  ['toString', 'ToString'],
  ['', ''],
])('titles the category %j %j', (name, title) => expect(categoryTitle(name)).toBe(title));
