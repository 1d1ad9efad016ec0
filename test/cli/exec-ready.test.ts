/** What `exec` says while a program is not ready. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { closedPort } from '../ports.js';
import { command, emptyFolder, parseComparison } from './command.js';

it('a reason that waiting will not mend is a warning at once, and part of the failure', async () => {
  const port = await closedPort();
  // It ends after some looks, however long each takes.
  const script = `let looks = 0; require('http').createServer((_, response) => {
    response.writeHead(302, { location: '/ui' }).end();
    if (++looks === 20) process.exit(3);
  }).listen(${port}, '127.0.0.1')`;
  const workload = {
    ...{ name: 'w', argv: [process.execPath, '-e', script], warmup: 0, iterations: 1, monitor: false, stopAfter: 0 },
    ready: { http: `http://127.0.0.1:${port}/health` },
  };
  const config = join(emptyFolder(), 'w.yaml');
  // JSON is YAML.
  writeFileSync(config, JSON.stringify({ workloads: [workload] }));
  const args = ['exec', '--simulate', '--rounds', '1', '--config', config, '--output', join(emptyFolder(), 'out')];
  const { code, stdout, stderr } = await command([...args, '--json', '-']);
  const reason = "status 302, a redirect to '/ui', which is not followed: give the URL it leads to";
  expect(code).toBe(1);
  expect(stderr.split('\n').filter((line) => line.includes('not ready yet'))).toEqual([
    `warning: native, w: not ready yet: ${reason}`,
  ]);
  const failed = parseComparison(stdout).systems[0]?.[0]?.metrics.find(({ id }) => id === 'w/ready');
  expect(failed?.reason).toMatch(
    /^run 1 of 1: it ended with exit code 3 before it was ready \(an answer of http:\S+; last: /,
  );
});
