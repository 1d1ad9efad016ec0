import { afterAll } from 'vitest';
import { removeTemporary } from './temporary.js';

afterAll(removeTemporary);
