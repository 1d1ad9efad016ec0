/** How a worker is told to keep to a part of the multiprocessors: it enters green contexts of up to that many. */
export const CONFINED_VARIABLE = 'GVB_GREEN_MULTIPROCESSORS';
