import { describe, expect, it } from 'vitest';
import { nodesIn } from '../../../../lib/fleet/slurm/node-list.js';

const nodes = (text: string) => nodesIn(text, '--nodelist');

describe('a list of nodes', () => {
  it.each([
    ['n1', ['n1']],
    ['n1,login-2.example', ['n1', 'login-2.example']],
    ['gpu[8-11]', ['gpu8', 'gpu9', 'gpu10', 'gpu11']],
    ['gpu[08-10,3]', ['gpu08', 'gpu09', 'gpu10', 'gpu3']],
    ['r[1-2]n[1-2]x,a', ['r1n1x', 'r1n2x', 'r2n1x', 'r2n2x', 'a']],
  ])('%s', (text, expected) => {
    expect(nodes(text)).toEqual(expected);
  });

  it.each([
    ['', /names of nodes such as gpu1,gpu\[3-7,9\] but received ''\.$/],
    ['n1,', /but received 'n1,'\.$/],
    ['n1 n2', /but received 'n1 n2'\.$/],
    ['n1;reboot', /but received/],
    ['$(id)', /but received/],
    ['n[1-2', /but received/],
    ['-n1', /begins with a dot or a dash/],
    ['n[3-1]', /: the range 3-1 is empty\.$/],
    ['n[1--2]', /: '1--2' is no number and no range\.$/],
    ['n[0-999999999]', /, which are more than 100000\.$/],
    ['n[1-1000]x[1-1000]', /, which are more than 100000\.$/],
    ['n1,n[1-2]', /, which names 'n1' twice\.$/],
  ])('refuses %s', (text, message) => {
    expect(() => nodes(text)).toThrow(message);
  });
});
