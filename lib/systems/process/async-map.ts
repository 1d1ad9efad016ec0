/** Maps one item after the other; the first rejection ends it. */
export async function asyncMap<T, R>(items: readonly T[], work: (item: T) => R | Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
