import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UsageError } from '#src/app/command-context.ts';
import { commands, parseCommandLine } from '#src/cli.ts';

describe('help', () => {
  test.each(commands)('shows every flag of $name with its default', (command) => {
    const line = parseCommandLine([command.name, '--help']);
    if (line.kind !== 'help') throw new Error('no help');
    for (const flag of command.flags) {
      expect(line.text).toContain(`--${flag.name}${flag.value === null ? '' : ` ${flag.value}`}`);
      if (flag.default !== null) expect(line.text).toContain(`(default ${flag.default})`);
    }
    expect(parseCommandLine(['help', command.name])).toEqual(line);
    expect(parseCommandLine([command.name, '-h'])).toEqual(line);
  });

  test('shows every command', () => {
    const line = parseCommandLine(['--help']);
    if (line.kind !== 'help') throw new Error('no help');
    for (const { name, summary } of commands)
      expect(line.text).toMatch(new RegExp(`  ${name}.*${summary}`, 'u'));
  });

  test.each(['', 'keys', 'tokenpay'])('of %j fits a terminal of 120 columns', (command) => {
    const line = parseCommandLine([command, '--help'].filter((word) => word !== ''));
    if (line.kind !== 'help') throw new Error('no help');
    expect(Math.max(...line.text.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(120);
  });
});

describe('a command line', () => {
  test('gives settings and flags of the command apart', () => {
    expect(parseCommandLine(['serve', '--port', '1', '--tip=ab', '--data', 'd'])).toMatchObject({
      kind: 'run',
      command: { name: 'serve' },
      settings: { port: '1', dataDir: 'd' },
      flags: { tip: 'ab' },
    });
    expect(parseCommandLine(['export', 'inscriptions', '--from', '3'])).toMatchObject({
      command: { name: 'export' },
      flags: { from: '3' },
    });
  });

  test.each([
    { words: [], says: 'missing command' },
    { words: ['sevre'], says: 'unknown command sevre: did you mean serve? the commands are demo, init' },
    { words: ['dmeo'], says: 'unknown command dmeo: did you mean demo?' },
    { words: ['help', 'sevre'], says: 'unknown command sevre' },
    { words: ['something'], says: 'unknown command something; the commands are demo, init' },
    { words: ['--port', '1', 'serve'], says: 'the command must come first' },
    {
      words: ['serve', '--prot', '1'],
      says: "unknown option '--prot': did you mean --port? satscribe serve --help",
    },
    { words: ['demo', '--smaple', 'x'], says: 'did you mean --sample?' },
    { words: ['demo', '--nothing-near'], says: "unknown option '--nothing-near'; satscribe demo --help" },
    { words: ['serve', '--port'], says: 'option --port needs a value; satscribe serve --help' },
    { words: ['serve', '--port', '--host', 'x'], says: 'option --port needs a value' },
    { words: ['serve', '--port', '1', '--port=2'], says: '--port is given more than once' },
    { words: ['serve', '-p', '1'], says: "unknown option '-p'" },
    { words: ['serve', 'now'], says: 'unexpected word now' },
    { words: ['serve', '--', '--port'], says: 'unexpected word --port' },
    { words: ['migrate', '--port', '1'], says: "unknown option '--port'" },
    { words: ['export'], says: 'satscribe export inscriptions|balances' },
    { words: ['export', 'runes'], says: 'unknown object runes' },
    { words: ['export', 'inscriptions', 'more'], says: 'unexpected word more' },
    { words: ['keys', 'list', '--json=1'], says: 'satscribe keys --help' },
  ])('$words is refused with the next step', ({ words, says }) => {
    expect(() => parseCommandLine(words)).toThrow(UsageError);
    expect(() => parseCommandLine(words)).toThrow(says);
  });

  test('is read or refused, whatever it is', () => {
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '--help',
        '--port',
        '--data=x',
        '--',
        '-h',
        '--no-help',
        'inscriptions',
        '7700',
        '__proto__',
      ),
    );
    const line = fc.tuple(
      fc.oneof(word, fc.constantFrom(...commands.map(({ name }) => name))),
      fc.array(word),
    );
    fc.assert(
      fc.property(line, ([first, rest]) => {
        try {
          return ['help', 'run'].includes(parseCommandLine([first, ...rest]).kind);
        } catch (error) {
          return error instanceof UsageError;
        }
      }),
    );
  });
});

describe('a number below zero', () => {
  test('is the value of the flag before it, so that the flag can say what it may be', () => {
    expect(parseCommandLine(['index', '--until', '-1'])).toMatchObject({ flags: { until: '-1' } });
    expect(() => parseCommandLine(['index', '-1'])).toThrow("unknown option '-1'");
  });
});

describe('--version', () => {
  test('is the version of the package', () => {
    const line = parseCommandLine(['--version']);
    expect(line).toEqual({
      kind: 'help',
      text: expect.stringMatching(/^satscribe \d+\.\d+\.\d+\n$/u) as string,
    });
  });
});

describe('the demo', () => {
  const demo = commands.find(({ name }) => name === 'demo');
  const prepare = (flags: Record<string, string>, settings = {}, env = {}): unknown =>
    demo?.prepare?.({ flags, settings, env });

  test('shows the chain that is made for it, each sample in a data folder of its own', () => {
    expect(prepare({})).toMatchObject({
      settings: { blocksDir: expect.stringMatching(/samples\/demo$/u) as string },
      defaults: { dataDir: './data/demo-chain', indexSats: true },
    });
    expect(prepare({ sample: 'mainnet' })).toMatchObject({
      settings: { blocksDir: expect.stringMatching(/samples\/mainnet$/u) as string },
      defaults: { dataDir: './data/demo-mainnet' },
    });
    expect(prepare({ sample: 'regtest' })).toMatchObject({
      settings: { blocksDir: expect.stringMatching(/samples\/regtest$/u) as string },
      defaults: { dataDir: './data/demo-regtest' },
    });
  });

  test('keeps the blocks of another folder apart from the samples and from other folders', () => {
    const dataDirOf = (blocksDir: string): string =>
      (prepare({}, { blocksDir }) as { defaults: { dataDir: string } }).defaults.dataDir;
    expect(dataDirOf('/a/blocks')).toMatch(/^\.\/data\/demo-blocks-[0-9a-f]{8}$/u);
    expect(dataDirOf('/a/blocks')).not.toBe(dataDirOf('/b/blocks'));
    expect(dataDirOf('/a/blocks')).toBe(dataDirOf('/a/../a/blocks/'));
    expect(prepare({}, {}, { BLOCKS_DIR: '/a/blocks' })).toEqual({
      settings: {},
      defaults: {
        dataDir: dataDirOf('/a/blocks'),
        logLevel: 'warn',
        searchAccess: 'open',
        searchAddressRate: '0',
        buildAddressRate: '0',
        orderRate: '0',
      },
    });
  });

  test('takes a sample or a folder, and no sample that is not there', () => {
    expect(() => prepare({ sample: 'regtest' }, { blocksDir: 'x' })).toThrow('exclude each other');
    expect(() => prepare({ sample: 'testnet' })).toThrow('the samples are demo, mainnet and regtest');
    expect(prepare({ sample: 'regtest' }, {}, { BLOCKS_DIR: 'x' })).toMatchObject({
      settings: { blocksDir: expect.stringMatching(/samples\/regtest$/u) as string },
    });
  });
});
