const KIB = 1024;
const steps: readonly [number, string][] = [
  [KIB ** 3, 'GiB'],
  [KIB ** 2, 'MiB'],
  [KIB, 'KiB'],
];

/** `2097152` → `2 MiB`. */
export function formatBytes(bytes: number): string {
  const step = steps.find(([size]) => bytes >= size);
  return step ? `${Number((bytes / step[0]).toFixed(2))} ${step[1]}` : `${bytes} B`;
}
