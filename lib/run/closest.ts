export { closest } from '../errors/closest.js';
