import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isFlushed } from '#kernel/pg/await-flushed.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { type Seam, seams } from '#kernel/process/failpoint.ts';
import { seededRandom, shuffled } from '#test/builders/random.ts';
import { ChaosDatabase } from '#test/chaos/processes/chaos-database.ts';
import { comparisonWith, pinFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { indexFolder, indexTests } from '#test/support/chain/index-tests.ts';
import type { SeamTask } from '#test/support/chain/seam-process.ts';
import { type DataDir, makeUsedDataDir } from '#test/support/data-dir.ts';
import { sampleStep } from '#test/support/property-runs.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const processFile = fileURLToPath(new URL('../support/chain/seam-process.ts', import.meta.url));
const golden = new GoldenChain('mixed-2');
const blockCount = golden.chain.headers.length;
const batchBlocks = 2;
/** No block below height 100 has an inscription. */
const firstPasses = 100 / batchBlocks + 2;
const random = seededRandom('seams');
const { folderOf } = indexTests();

let folder: DataDir;
let server: ChaosDatabase;
let dir: string;
let differences: (pool: pg.Pool) => Promise<string[]>;
const name = 'loaded';
let child: ChildProcess | null = null;

beforeAll(async () => {
  folder = await makeUsedDataDir();
  server = await ChaosDatabase.start(folder.path);
  dir = folderOf(golden);
  await freshDatabase('clean');
  const pool = server.pool('clean');
  await indexFolder(pool, dir, { indexAddresses: true, indexSats: true });
  differences = await comparisonWith(pool);
  await pool.end();
});
afterAll(async () => {
  await server.stop();
  await folder.remove();
});
afterEach(() => {
  child?.kill('SIGKILL');
  server.continueWalWriter();
});

async function freshDatabase(called: string): Promise<void> {
  await server.create(called);
  await migrate(server.directUrl(called));
  const pool = server.pool(called);
  await pinFingerprintKey(pool, 'regtest');
  await pool.end();
}

/** Report of a process at a seam: the number of batches that it decided, and how many of them were committed. */
interface AtSeam {
  readonly seam: Seam;
  readonly decided: number;
  readonly committed: number;
}

/** Expects that one batch was at the seam while the next batch was already decided. */
function expectOverlap({ seam, decided, committed }: AtSeam): void {
  expect([seam, decided - committed]).toEqual([seam, seam === 'committed' ? 1 : 2]);
}

function start(at: SeamTask['at'], how: SeamTask['how']): ChildProcess {
  const task: SeamTask = { url: server.proxied(name), dir, batchBlocks, at, how };
  child = fork(processFile, [JSON.stringify(task)], { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
  return child;
}

/**
 * Loads with a process that kills itself at a seam, and returns its report. If `seam` is `null`, the process loads to
 * the end.
 */
async function load(seam: Seam | null, passes = 1): Promise<AtSeam | null> {
  const started = start(seam === null ? [] : [[seam, passes]], 'kill');
  let said = '';
  started.stderr?.on('data', (bytes: Buffer) => {
    said += bytes.toString();
  });
  const [code, signal] = (await once(started, 'close')) as [number | null, string | null];
  expect([said, signal ?? code]).toEqual([said, seam === null ? 0 : 'SIGKILL']);
  const numbers =
    /^failpoint (?<seam>\S+): (?<decided>\d+) batches decided, (?<committed>\d+) committed$/mu.exec(said);
  if (seam === null || numbers?.groups === undefined) return null;
  const { decided, committed } = numbers.groups;
  return { seam, decided: Number(decided), committed: Number(committed) };
}

/** Loads with one process that pauses at seams. It continues when `work` is done. */
async function loadHeld(at: SeamTask['at'], work: (goOn: () => void) => Promise<void>): Promise<void> {
  const started = start(at, 'hold');
  let said = '';
  started.stderr?.on('data', (bytes: Buffer) => {
    said += bytes.toString();
  });
  const ended = once(started, 'close') as Promise<[number | null, string | null]>;
  const seen: Seam[] = [];
  for (const [wanted] of at) {
    const first = await Promise.race([once(started, 'message'), ended.then(() => null)]);
    if (first === null) break;
    const [[seam, decided, committed]] = first as [[Seam, number, number]];
    expect(seam).toBe(wanted);
    expectOverlap({ seam, decided, committed });
    seen.push(seam);
    await work(() => started.send('go'));
  }
  const [code, signal] = await ended;
  expect([said, signal ?? code]).toEqual([said, 0]);
  expect(seen).toEqual(at.map(([seam]) => seam));
}

async function indexedBlocks(): Promise<number> {
  const rows = await server.query<{ blocks: number; tip: number | null; top: number | null }>(
    name,
    'SELECT tip_height AS tip, (SELECT max(height) FROM chain.blocks) AS top, (SELECT count(*) FROM chain.blocks) AS blocks FROM chain.state',
  );
  const { blocks, tip, top } = rows[0]!;
  expect([tip, top]).toEqual(blocks === 0 ? [null, null] : [blocks - 1, blocks - 1]);
  return blocks;
}

/** Whether a crash of the server would lose nothing. */
async function wouldLoseNothing(): Promise<boolean> {
  const pool = server.pool(name);
  try {
    return await isFlushed(pool);
  } finally {
    await pool.end();
  }
}

/** Expects the rows of a clean index, and an outbox that names each block once, in order and without gaps. */
async function expectClean(): Promise<void> {
  expect(await indexedBlocks()).toBe(blockCount);
  const pool = server.pool(name);
  expect(await differences(pool)).toEqual([]);
  const { rows } = await pool.query<{ sequence: number; height: number }>(
    'SELECT sequence, height FROM chain.outbox ORDER BY sequence',
  );
  await pool.end();
  expect(rows).toEqual(rows.map((_, height) => ({ sequence: height + 1, height })));
}

describe('a load whose next batch is decided while one is written', () => {
  beforeEach(async () => {
    await server.query('clean', `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await freshDatabase(name);
  });

  test('has whole batches wherever it is killed, and resumes to the rows of a clean index', async () => {
    let blocks = 0;
    for (const [turn, seam] of shuffled(random, seams).entries()) {
      const passes = turn === 0 ? firstPasses : 1 + random.below(4);
      const at = await load(seam, passes);
      expect(at).not.toBeNull();
      expectOverlap(at!);
      const after = await indexedBlocks();
      const committed = (after - blocks) / batchBlocks;
      // a commit that was sent may or may not have been executed
      expect(seam === 'commit' ? [at!.committed, at!.committed + 1] : [at!.committed]).toContain(committed);
      blocks = after;
    }
    await load(null);
    await expectClean();
  });

  test('continues by itself after its connections were ended, whatever the state of its batches', async () => {
    const at = shuffled(random, seams).map((seam, turn) => [seam, turn === 0 ? firstPasses : 2] as const);
    await loadHeld(at, async (goOn) => {
      await server.terminate(name);
      goOn();
    });
    await expectClean();
  });

  test('continues by itself after a commit that the server executed but did not answer', async () => {
    await loadHeld([['transaction', firstPasses]], async (goOn) => {
      const before = await indexedBlocks();
      server.proxy.set('mute');
      goOn();
      await waitUntil(async () => (await indexedBlocks()) === before + batchBlocks);
      server.proxy.set('pass');
      server.proxy.cut();
    });
    await expectClean();
  });

  test('loses the last commits when its server crashes before they are on the disk, and writes them again', async () => {
    await server.stopWalWriter();
    let lost: number | null = null;
    const at = Array.from({ length: 8 }, (_, turn) => ['committed', turn === 0 ? firstPasses : 1] as const);
    await loadHeld(at, async (goOn) => {
      // a later commit that waits for the disk, like that of an index build, may have flushed the batch's commit too
      if (lost === null && !(await wouldLoseNothing())) {
        const before = await indexedBlocks();
        await server.crash('SIGKILL', 0);
        lost = before - (await indexedBlocks());
      }
      goOn();
    });
    expect(lost).toBeGreaterThanOrEqual(batchBlocks);
    expect(lost! % batchBlocks).toBe(0);
    await expectClean();
  });

  test('continues by itself after crashes of its server, whatever the state of its batches', async () => {
    // each crash takes a second, so only three seams are tried; a long run tries all
    const some = shuffled(random, seams).filter((_, place) => place % sampleStep(2) === 0);
    const at = some.map((seam, turn) => [seam, turn === 0 ? firstPasses : 2] as const);
    await loadHeld(at, async (goOn) => {
      await server.crash(random.unit() < 0.5 ? 'SIGQUIT' : 'SIGKILL', 0);
      goOn();
    });
    await expectClean();
  });
});
