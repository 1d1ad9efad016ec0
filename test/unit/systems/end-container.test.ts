import { describe, expect, it } from 'vitest';
import { endContainer, type Said } from '../../../lib/systems/kinds/container/end-container.js';

const ok = (stdout = ''): Said => ({ ok: true, stdout, stderr: '' });
const no = (stderr: string): Said => ({ ok: false, stdout: '', stderr });

interface Box {
  running: boolean;
  living: number[];
  isThere?: boolean;
  checkpoint?: () => Said;
  onWait?: () => void;
}

/** A podman with one container, and what it was asked. */
function podmanWith(box: Box) {
  const asked: string[] = [];
  const podman = (argv: readonly string[]): Said => {
    const [what, which] = argv;
    asked.push(what === 'container' ? `${which}` : argv.join(' '));
    if (box.isThere === false) return no('Error: no such container c');
    if (which === 'inspect') return ok(`${box.running}\n`);
    if (which === 'checkpoint') {
      const said = box.checkpoint?.() ?? ok();
      if (said.ok) Object.assign(box, { running: false, living: [] });
      return said;
    }
    return box.running ? no('Error: cannot remove container c as it is running') : ok();
  };
  const wait = () => box.onWait?.();
  return { asked, end: () => endContainer('c', { podman, living: () => box.living, wait }) };
}

describe('a container that may be restored', () => {
  it('is checkpointed again and removed without force', () => {
    const { asked, end } = podmanWith({ running: true, living: [7] });
    expect(end()).toBeNull();
    expect(asked).toEqual(['inspect', 'checkpoint', 'rm c']);
  });

  it('is only removed where it has ended, and nothing is to be done where it is gone', () => {
    const ended = podmanWith({ running: false, living: [] });
    expect(ended.end()).toBeNull();
    expect(ended.asked).toEqual(['inspect', 'rm c']);
    expect(podmanWith({ running: false, living: [], isThere: false }).end()).toBeNull();
  });

  it('is left alive and never removed where its checkpoint is refused', () => {
    const { asked, end } = podmanWith({ running: true, living: [7], checkpoint: () => no('a\nError: CRIU says no') });
    expect(end()).toMatch(/never killed: its checkpoint failed: Error: CRIU says no$/);
    expect(asked.filter((each) => each.startsWith('rm'))).toEqual([]);
  });

  it('is removed once its processes have ended, which may take them a while after the checkpoint', () => {
    const box: Box = { running: false, living: [7] };
    let waits = 0;
    box.onWait = () => {
      if (++waits === 20) box.living = [];
    };
    const { asked, end } = podmanWith(box);
    expect(end()).toBeNull();
    expect(asked).toEqual(['inspect', 'rm c']);
  });

  it('is left where podman takes it for ended, but a process of it lives', () => {
    const { asked, end } = podmanWith({ running: false, living: [7] });
    expect(end()).toMatch(/its process 7 lives$/);
    expect(asked.filter((each) => each.startsWith('rm'))).toEqual([]);
  });

  it('is checkpointed where a restore begins in between', () => {
    const box: Box = { running: false, living: [] };
    const { asked, end } = podmanWith(box);
    let looks = 0;
    Object.defineProperty(box, 'running', {
      get: () => looks++ > 0 && !asked.includes('checkpoint'),
      set: () => undefined,
    });
    expect(end()).toBeNull();
    expect(asked).toEqual(['inspect', 'rm c', 'inspect', 'checkpoint', 'rm c']);
  });
});
