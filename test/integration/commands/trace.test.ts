import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StageRow } from '#kernel/stages/stage-recorder.ts';
import { type DataDir, makeDataDir } from '#test/support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { startCli } from '#test/support/run-cli.ts';
import { completeEvents, readTrace, trackNames, unnested } from '#test/support/trace.ts';

let database: TestDatabase;
let dataDir: DataDir;
beforeEach(async () => {
  database = await createTestDatabase();
  dataDir = await makeDataDir();
});
afterEach(async () => {
  await database.drop();
  await dataDir.remove();
});

function start(words: readonly string[]): ReturnType<typeof startCli> {
  return startCli(words, { DATABASE_URL: database.url });
}

describe('index --trace', () => {
  test('shows every stage of a sync on tracks of its own', async () => {
    const path = join(dataDir.path, 'trace.json');
    const { exitCode, stderr } = await start(['index', '--blocks', 'samples/regtest', '--trace', path]).ended;
    expect(exitCode).toBe(0);
    const events = readTrace(path);
    expect(unnested(events)).toEqual([]);
    const names = new Set(completeEvents(events).map(({ name }) => name));
    const stages = `fetch, check, parse, ledger, encode, write, COPY blocks, COPY contents, COPY inscriptions,
      COPY locations, outbox, other statements, commit, index inscriptions_id,
      index locations_outpoint, analyze, sealing`.split(/,\s+/u);
    stages.push('outbox, texts', 'sealing, statements');
    expect(stages.filter((stage) => !names.has(stage))).toEqual([]);
    const tracks = [...trackNames(events).values()];
    for (const track of ['main thread', 'writer connection', 'reader connection', 'sealer']) {
      expect(tracks).toContain(track);
    }
    const { rows } = events.at(-1)!.args as unknown as { rows: StageRow[] };
    const rowOf = (stage: string): StageRow | undefined => rows.find((row) => row.stage === stage);
    expect(rowOf('parse')).toMatchObject({ count: 175 });
    expect(rowOf('COPY blocks')).toMatchObject({ rows: 175 });
    expect(rowOf('ledger')?.waitMs).toBeGreaterThan(0);
    expect(stderr).toContain('stages of the sync');
  });

  test('shows the ends of what earlier runs wrote', async () => {
    const path = join(dataDir.path, 'ends.json');
    await start(['index', '--blocks', 'samples/regtest', '--until', '100']).ended;
    await start(['index', '--blocks', 'samples/regtest', '--trace', path]).ended;
    expect(completeEvents(readTrace(path)).map(({ name }) => name)).toContain('ends of locations');
  });

  test('leaves valid JSON when it is stopped', async () => {
    const path = join(dataDir.path, 'stopped.json');
    const { child, ended } = start(['index', '--blocks', 'samples/mainnet', '--trace', path]);
    while (!existsSync(path)) await once(child.stderr!, 'data');
    child.kill('SIGTERM');
    await ended;
    expect(readTrace(path).at(-1)?.name).toBe('stages');
  });

  test('is refused where the file cannot be made', async () => {
    const path = join(dataDir.path, 'none', 'trace.json');
    const result = await start(['index', '--blocks', 'samples/regtest', '--trace', path]).ended;
    expect(result).toMatchObject({ exitCode: 1 });
    expect(result.stderr).toContain('output_failed');
  });
});
