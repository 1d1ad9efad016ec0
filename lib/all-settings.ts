/** Every schema of settings, for the scripts that write types, JSON Schemas and docs from them. */
export { bare } from './config/read.js';
export { priceSettings } from './costs/read-prices.js';
export { metricThresholds, thresholdSettings } from './gate/thresholds-file.js';
export { loadSettings } from './load/load-config.js';
export { kinds } from './systems/registry.js';
export { verifySchema } from './systems/kinds/custom/custom-verify.js';
export { metricSettings, tenantSettings, workloadSettings } from './workloads/settings/workload-schema.js';
