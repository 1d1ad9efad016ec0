/** Every command's help ends in examples, and every example is a command. */
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { helpExamples } from '../../../lib/cli/options/help-examples.js';
import { parseRunOptions, type RawRunOptions } from '../../../lib/cli/options/options.js';
import { program } from '../../../lib/cli/program.js';
import { parseSystems } from '../../../lib/systems/input/parse.js';

function commandsOf(command: Command, parents: readonly string[] = []): [name: string, command: Command][] {
  return command.commands.flatMap((each) => {
    const names = [...parents, each.name()];
    return [[names.join(' '), each] as [string, Command], ...commandsOf(each, names)];
  });
}

/** Splits like a shell, as far as the examples need. */
const words = (text: string): string[] => (text.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));

/** The command that an example would run, with its options. */
async function parsed(text: string): Promise<{ name: string; options: Record<string, unknown> }> {
  const found: { name: string; options: Record<string, unknown> }[] = [];
  const root = program();
  for (const [name, command] of commandsOf(root))
    if (command.commands.length === 0) command.action(() => void found.push({ name, options: command.opts() }));
  await root.parseAsync(words(text), { from: 'user' });
  const [only] = found;
  if (!only || found.length > 1) throw new Error(`${text} runs ${found.length} commands`);
  return only;
}

const commands = commandsOf(program());

describe.each(commands)('help of %s', (name, command) => {
  it('ends in one to three examples', () => {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) });
    command.outputHelp();
    const [, examples = ''] = help.split('\nExamples:\n');
    const lines = examples.trimEnd().split('\n');
    expect(lines.length).toBeLessThan(4);
    for (const line of lines) expect(line).toMatch(new RegExp(`^  gpu-virt-bench ${name}\\b`));
  });
});

describe('the examples', () => {
  it('use only existing commands', () =>
    expect(Object.keys(helpExamples).sort()).toEqual(commands.map(([name]) => name).sort()));

  it.each(Object.entries(helpExamples).flatMap(([name, texts]) => texts.map((text) => [text, name] as const)))(
    'parse: %s',
    async (text, name) => {
      const { name: run, options } = await parsed(text);
      expect(run.startsWith(name)).toBe(true);
      if (name === 'run' || name === 'compare') parseRunOptions(options as unknown as RawRunOptions);
      const specs = (options.system ?? []) as string[];
      expect(parseSystems(specs, { caller: {}, folder: '/', allowMissing: true })).toHaveLength(specs.length);
    },
  );

  it('are refused if an option is unknown', async () => {
    const root = parsed('report results/today --htm today.html');
    await expect(root).rejects.toMatchObject({ code: 'commander.unknownOption' });
  });
});
