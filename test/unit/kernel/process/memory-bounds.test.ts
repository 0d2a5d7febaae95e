import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';

const program = `
  import { readFileSync } from 'node:fs';
  import { getHeapSpaceStatistics } from 'node:v8';
  import { restartWithMemoryBounds } from '#kernel/process/memory-bounds.ts';
  restartWithMemoryBounds();
  let kept = [];
  for (let made = 0; made < 2_000_000; made++) {
    kept.push({ made, pair: [made] });
    if (kept.length > 200_000) kept = [];
  }
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  const started = readFileSync('/proc/self/environ', 'latin1').split('\\0');
  console.log(JSON.stringify({
    pid: process.pid,
    words: process.argv.slice(1),
    megabytes: space.space_size / 2 ** 20,
    malloc: started.filter((each) => each.startsWith('MALLOC_')).sort(),
    inherited: Object.keys(process.env).filter((name) => name.startsWith('MALLOC_')),
  }));
`;

interface Shown {
  readonly pid: number;
  readonly words: readonly string[];
  readonly megabytes: number;
  readonly malloc: readonly string[];
  readonly inherited: readonly string[];
}

/** Runs the program, and returns what it shows of its last process. */
function shown(env: Record<string, string> = {}): Shown & { readonly spawned: number } {
  const { stdout, stderr, pid } = spawnSync(
    process.execPath,
    ['--input-type=module-typescript', '--eval', program, 'serve', '--port', '0'],
    { cwd: import.meta.dirname, encoding: 'utf8', env: { PATH: process.env['PATH'], ...env } },
  );
  expect(stderr).toBe('');
  return { ...(JSON.parse(stdout) as Shown), spawned: pid };
}

// the program reads what Linux tells of a process
describe.runIf(process.platform === 'linux')('long commands', () => {
  test('a process starts again with bounded memory, with the same id and words', () => {
    const { megabytes, pid, spawned, ...rest } = shown();
    expect(pid).toBe(spawned);
    expect(megabytes).toBeLessThanOrEqual(32);
    expect(rest).toEqual({
      words: ['serve', '--port', '0'],
      malloc: ['MALLOC_ARENA_MAX=2', 'MALLOC_MMAP_THRESHOLD_=262144'],
      inherited: [],
    });
  });

  test("an operator's own settings remain", () => {
    const own = shown({ NODE_OPTIONS: '--max-semi-space-size=64', MALLOC_ARENA_MAX: '4' });
    expect(own.inherited).toEqual(['MALLOC_ARENA_MAX']);
    expect(own.malloc).toEqual(['MALLOC_ARENA_MAX=4']);
    expect(own.megabytes).toBeGreaterThan(32);
  });

  test("an operator's own setting of malloc remains in the new process", () => {
    expect(shown({ MALLOC_ARENA_MAX: '4' }).malloc).toEqual([
      'MALLOC_ARENA_MAX=4',
      'MALLOC_MMAP_THRESHOLD_=262144',
    ]);
  });

  test('a process with a channel to its parent keeps it, and the defaults', async () => {
    const forked = `${program}\nprocess.send('reached'); process.disconnect();`;
    const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', forked], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    const [messages, stdout] = await Promise.all([once(child, 'message'), text(child.stdout!)]);
    expect(messages).toContain('reached');
    expect((JSON.parse(stdout) as Shown).megabytes).toBeGreaterThan(32);
  });
});
