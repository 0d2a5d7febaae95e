import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { partOf } from '#kernel/stages/stage-list.ts';
import type { StageRow } from '#kernel/stages/stage-sums.ts';
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
    stages.push('outbox, texts', 'sealing, statements', 'send');
    expect(stages.filter((stage) => !names.has(stage))).toEqual([]);
    const tracks = [...trackNames(events).values()];
    for (const track of ['main thread', 'writer connection', 'reader connection', 'sealer']) {
      expect(tracks).toContain(track);
    }
    const { rows } = events.at(-1)!.args as unknown as { rows: StageRow[] };
    const rowOf = (stage: string): StageRow | undefined => rows.find((row) => row.stage === stage);
    expect(rows.filter(({ stage }) => partOf(stage) === null)).toEqual([]);
    expect(rowOf('parse')).toMatchObject({ count: 175 });
    expect(rowOf('COPY blocks')).toMatchObject({ rows: 175 });
    expect(rowOf('ledger')?.waitMs).toBeGreaterThan(0);
    expect(stderr).toContain('stages of the sync');
    expect(/^.*stages of the sync.*$/mu.exec(stderr)?.[0]).not.toMatch(/\.\d{4}/u);
    expect(stderr).not.toContain('Warning');
  });

  test('shows the ends of the files of earlier runs', async () => {
    const path = join(dataDir.path, 'ends.json');
    await start(['index', '--blocks', 'samples/regtest', '--until', '100']).ended;
    await start(['index', '--blocks', 'samples/regtest', '--trace', path]).ended;
    expect(completeEvents(readTrace(path)).map(({ name }) => name)).toContain('ends of locations');
  });

  test('leaves valid JSON if it is stopped', async () => {
    const path = join(dataDir.path, 'stopped.json');
    const { child, ended } = start(['index', '--blocks', 'samples/mainnet', '--trace', path]);
    while (!existsSync(path)) await once(child.stderr!, 'data');
    child.kill('SIGTERM');
    await ended;
    expect(readTrace(path).at(-1)?.name).toBe('stages');
  });
});

describe('--trace is refused', () => {
  const refusal = async (...words: string[]): Promise<string> => {
    const { exitCode, stderr } = await start(words).ended;
    expect(exitCode).toBe(2);
    return stderr;
  };

  test.each([
    { command: ['index', '--blocks', 'samples/regtest'] },
    { command: ['serve', '--port', '0', '--blocks', 'samples/regtest'] },
  ])('by $command.0 if the file cannot be made, before anything is indexed', async ({ command }) => {
    const folder = join(dataDir.path, 'none');
    const inNone = await refusal(...command, '--trace', join(folder, 'trace.json'));
    expect(inNone).toContain(`the folder ${folder} does not exist`);
    expect(await refusal(...command, '--trace', dataDir.path)).toContain('this is a folder');
    expect(await refusal(...command, '--trace', 'package.json/trace.json')).toContain(
      'is a file and not a folder',
    );
    const { rows } = await database.pool.query('SELECT network FROM chain.state');
    expect(rows).toEqual([]);
  });

  test.each(['api', 'search-sync'])('by role %s, which indexes nothing', async (role) => {
    const path = join(dataDir.path, 'api.json');
    const env = { DATABASE_URL: database.url, ELASTICSEARCH_URL: 'http://127.0.0.1:1' };
    const { exitCode, stderr } = await startCli(['serve', '--role', role, '--trace', path], env).ended;
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`all and indexer do; this process has the role ${role}`);
    expect(existsSync(path)).toBe(false);
  });
});
