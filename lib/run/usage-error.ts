export { quoted, UsageError } from '../errors/usage-error.js';
