/** Secrets in the settings of a workload: variables, headers and parts of URLs. Results do not store them. */
import { isMap, type RawMap, type RawValue } from '../../config/raw.js';
import type { LoadPlan } from '../../load/load-plan.js';
import { NOT_RECORDED } from '../../results/document.js';
import { publicValue } from '../../systems/input/spec.js';

const secretHeader = /COOKIE|SESSION|SIGNATURE/i;
/** Schemes of `authorization`, whatever the header is called. */
const credentials = /^\s*(Bearer|Basic|Digest|Token|ApiKey)\s/i;
const secretParameter = /signature|session|^(sig|sid|code|pwd)$/i;

const publicHeader = (name: string, value: string): string =>
  secretHeader.test(name) || credentials.test(value) ? NOT_RECORDED : publicValue(name, value);

/** Removes secret parameters, user and password from a URL; the rest stays as it is written. */
export function publicUrl(text: string): string {
  const withoutUser = text.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, `$1${NOT_RECORDED}@`);
  return withoutUser.replace(/([?&;])([^=&;#]*)=([^&;#]*)/g, (whole, before: string, name: string, value: string) =>
    isSecretParameter(name, value) ? `${before}${name}=${NOT_RECORDED}` : whole,
  );
}

function isSecretParameter(name: string, value: string): boolean {
  const decoded = decodedText(name);
  return secretParameter.test(decoded) || publicValue(decoded, value) !== value;
}

function decodedText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const changed = (map: RawMap, change: (name: string, value: string) => string): RawMap =>
  Object.fromEntries(
    Object.entries(map).map(([name, value]) => [name, typeof value === 'string' ? change(name, value) : value]),
  );

/** Removes secrets from settings, for a file that is shared. */
export function withoutSecrets(settings: RawMap): RawMap {
  const inner = (value: RawValue): RawValue =>
    isMap(value) ? withoutSecrets(value) : Array.isArray(value) ? value.map(inner) : value;
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]): [string, RawValue] => {
      if (key === 'env' && isMap(value)) return [key, changed(value, publicValue)];
      if (key === 'headers' && isMap(value)) return [key, changed(value, publicHeader)];
      if ((key === 'url' || key === 'http') && typeof value === 'string') return [key, publicUrl(value)];
      return [key, inner(value)];
    }),
  );
}

const places = ['env', 'headers', 'url', 'http'];

/**
 * Settings of a stored workload that have a text in place of a secret: `env.HF_TOKEN`, `load.headers.authorization`.
 */
export function notRecordedIn(value: RawValue, path: readonly string[] = []): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((each) => notRecordedIn(each, path)))];
  if (isMap(value)) return Object.entries(value).flatMap(([key, each]) => notRecordedIn(each, [...path, key]));
  const isSecret = value.includes(NOT_RECORDED) && path.some((key) => places.includes(key));
  return isSecret ? [path.join('.')] : [];
}

/** The settings of a load for a document, without its body, which may be long. */
export const loadRecord = ({ api, url, method, headers, requests, warmup, arrivals, timeoutMs }: LoadPlan) => ({
  api,
  url: publicUrl(url.href),
  method,
  headers: changed({ ...headers }, publicHeader),
  requests,
  warmup,
  arrivals,
  timeoutMs,
});
