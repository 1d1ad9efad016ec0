// How pages describe a metric.
export const better = { lower: 'lower', higher: 'higher', none: '–' };

export const delta = ({ relative, absolute }, unit) =>
  absolute === undefined ? `${100 * relative} %` : `${absolute} ${unit}`;

export const seconds = ({ quick, standard, thorough }) => `${quick} / ${standard} / ${thorough}`;
