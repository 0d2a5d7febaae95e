import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createFilledDatabase, type FilledDatabase, type TestDatabase } from '#test/support/database.ts';
import { type CliProcess, type CliResult, runCli, startCli } from '#test/support/run-cli.ts';

const golden = new GoldenChain('runes-1');
const { height: tip } = golden.tips()[0]!.headers.at(-1)!;
const folder = mkdtempSync(join(tmpdir(), 'satscribe-compare-'));
let indexed: FilledDatabase;
let served: TestDatabase;
let service: CliProcess;
let other: string;
let database: TestDatabase;

beforeAll(async () => {
  golden.writeFolder(folder);
  indexed = await createFilledDatabase(async ({ url }) => {
    expect((await runCli(['index', '--blocks', folder], { DATABASE_URL: url })).exitCode).toBe(0);
  });
  served = await indexed.clone();
  service = startCli(['serve', '--port', '0', '--blocks', folder], { DATABASE_URL: served.url });
  [, other] = (await service.seen(/^ready (\S+)\n$/u)) as unknown as [string, string];
});
beforeEach(async () => {
  database = await indexed.clone();
});
afterEach(() => database.drop());
afterAll(async () => {
  service.child.kill('SIGTERM');
  await service.ended;
  await served.drop();
  await indexed.drop();
  rmSync(folder, { recursive: true });
});

const doctor = (url: string, kind = 'runes'): Promise<CliResult> =>
  runCli(['doctor', 'compare', kind, '--other', url], { DATABASE_URL: database.url });

/** Replaces the stored hashes of rune events, from a height on, by the hashes of other blocks. */
async function spoilFrom(height: number): Promise<void> {
  await database.pool.query(
    `UPDATE chain.event_hashes SET cumulative_sha256 = sha256(cumulative_sha256),
       sha256 = CASE WHEN height = $1 THEN sha256(sha256) ELSE sha256 END
     WHERE kind = 1 AND height >= $1`,
    [height],
  );
}

test('equal instances are reported as equal, for either kind of events', async () => {
  for (const kind of ['runes', 'inscriptions']) {
    const { exitCode, stdout } = await doctor(other, kind);
    expect({ exitCode, said: JSON.parse(stdout) as unknown }).toEqual({
      exitCode: 0,
      said: { kind, verdict: 'equal', from: 0, to: tip, difference: null },
    });
  }
});

test('an index with gaps has neither hashes nor balances, and that is reported', async () => {
  await database.pool.query(
    'DELETE FROM chain.event_hashes WHERE kind = 1; UPDATE chain.rune_blocks SET anchored = false',
  );
  const compared = await doctor(other);
  expect(compared.exitCode).toBe(1);
  expect(compared.stderr).toContain('history_incomplete');
  expect(compared.stderr).toContain('no hashes of runes here to compare, because they begin at height 0');
  const exported = await runCli(['export', 'balances'], { DATABASE_URL: database.url });
  expect(exported.exitCode).toBe(1);
  expect(exported.stderr).toContain('history_incomplete');
});

test('the first block that differs is named, with its first line that is not the same', async () => {
  const { rows } = await database.pool.query<{ height: number }>(
    'SELECT height FROM chain.rune_mints, unnest(tx_indexes) ORDER BY height DESC LIMIT 1 OFFSET 5',
  );
  const { height } = rows[0]!;
  await database.pool.query(
    `UPDATE chain.rune_balances SET amount = amount + 1 WHERE (height, tx_index, vout, rune_key) =
       (SELECT height, tx_index, vout, rune_key FROM chain.rune_balances WHERE height = $1 ORDER BY tx_index, vout LIMIT 1)`,
    [height],
  );
  await spoilFrom(height);
  const { exitCode, stdout, stderr } = await doctor(other);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`differ from block ${height} on`);
  const { verdict, difference } = JSON.parse(stdout) as {
    verdict: string;
    difference: {
      height: number;
      isSameBlock: boolean;
      here: { sha256: string };
      there: { sha256: string };
      line: { here: string; there: string };
    };
  };
  expect(verdict).toBe('different');
  expect(difference).toMatchObject({ height, isSameBlock: true });
  expect(difference.here.sha256).not.toBe(difference.there.sha256);
  const amounts = [difference.line.here, difference.line.there].map((line) =>
    BigInt(line.split(' ').at(-1)!),
  );
  expect(amounts[0]).toBe(amounts[1]! + 1n);
});

test('the first and the last block can be the one that differs', async () => {
  await spoilFrom(tip);
  expect(JSON.parse((await doctor(other)).stdout)).toMatchObject({ difference: { height: tip, line: null } });
  await spoilFrom(0);
  expect(JSON.parse((await doctor(other)).stdout)).toMatchObject({ difference: { height: 0 } });
});

test('an address without an instance, or without a server, and wrong words are refused', async () => {
  const answers: string[] = ['<html>', '{}', '{"kind":"runes","version":2,"hashes":[]}'];
  const strange: Server = createServer((_request, reply) => reply.end(answers.shift() ?? ''));
  await new Promise<void>((resolve) => {
    strange.listen(0, '127.0.0.1', resolve);
  });
  const { port } = strange.address() as AddressInfo;
  for (const said of ['not in the form of this version', 'not in the form of this version', 'version 2']) {
    const { exitCode, stderr } = await doctor(`http://127.0.0.1:${port}`);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('instance_unusable');
    expect(stderr).toContain(said);
  }
  await new Promise((resolve) => {
    strange.close(resolve);
  });
  const { stderr: gone } = await doctor(`http://127.0.0.1:${port}`);
  expect(gone).toContain('instance_unusable');
  expect(gone).toContain(`ECONNREFUSED 127.0.0.1:${port}`);
  for (const words of [[], ['--other', 'ftp://x'], ['--other', 'nonsense']])
    expect((await runCli(['doctor', 'compare', 'runes', ...words])).exitCode).toBe(2);
  for (const words of [['compare', 'sats'], ['compare'], ['runes'], ['compare', 'runes', 'sats']]) {
    const { exitCode, stderr } = await runCli(['doctor', ...words, '--other', other]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('doctor');
  }
});
