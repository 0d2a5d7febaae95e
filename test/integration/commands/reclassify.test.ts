import { expect, test } from 'vitest';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { type Refusal, refusals } from '#kernel/sales/refusals.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { type CliResult, runCli, startCli } from '#test/support/run-cli.ts';
import { ageSales, bestHeight, SoldChain } from '#test/support/sales/sold-chain.ts';

const chain = new SoldChain('reclassify command');

const reclassify = (
  { url }: TestDatabase,
  words: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<CliResult> =>
  runCli(['sales', 'reclassify', '--blocks', chain.dirs.best, ...words], { DATABASE_URL: url, ...env });

async function countOf({ pool }: TestDatabase): Promise<number> {
  const { rows } = await pool.query<{ count: number }>('SELECT count(*)::integer AS count FROM chain.sales');
  return rows[0]!.count;
}

test('reclassifies all sales, in words and for programs, and again by the same rules', async () => {
  const database = await chain.indexed();
  const sales = await countOf(database);
  await ageSales(database);
  const done = await reclassify(database, ['--json']);
  expect(done).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(done.stdout)).toEqual({
    rules: 3,
    resumed: false,
    blocks: bestHeight + 1,
    height: bestHeight,
    sales,
  });
  await chain.index(database);
  await chain.expectClean(database);
  await database.pool.query('DELETE FROM chain.sales');
  const again = await reclassify(database, ['--log-level', 'info']);
  expect(again.stdout).toBe(`${sales} sales in ${bestHeight + 1} blocks, by version 3 of the rules\n`);
  expect(again.stderr).toContain('reclassifying');
  await chain.expectClean(database);
});

test('explain says that no sale of a transaction is indexed, and what to do', {
  tags: ['proof'],
}, async () => {
  const { url } = await chain.indexed();
  const txid = 'ab'.repeat(32);
  const explain = (...words: string[]) => runCli(['sales', 'explain', txid, ...words], { DATABASE_URL: url });
  expect((await explain()).stdout).toContain(
    `No sale in the transaction ${txid} is indexed. It sold nothing, or its block comes after the last indexed block, ${bestHeight}.`,
  );
  expect((await explain('--json')).stdout).toBe('[]\n');
  expect(await explain()).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/unknown which rule refused the transaction. \S/u) as string,
  });
  const source = ['--blocks', chain.dirs.best];
  expect((await explain(...source)).stdout).toContain('No indexed block has the transaction.');
  expect((await explain(...source, '--height', '3')).stdout).toContain('Block 3 of folder');
  expect((await explain(...source, '--height', '3000')).stdout).toContain('Block 3000 is not indexed.');
  const blocks = await openFolderSource(chain.dirs.best);
  const { bytes } = await blocks.read((await blocks.refs())[1]!);
  const coinbase = displayHash(RawTransactions.ofBlock(bytes).txid(0));
  const none = await runCli(['sales', 'explain', coinbase, ...source], { DATABASE_URL: url });
  expect(none.stdout).toBe(
    `The transaction ${coinbase} of block 1 moves no inscription, so it sells nothing.\n`,
  );
});

test('explain says which rule refused each move of a transaction that sold nothing', {
  tags: ['proof'],
}, async () => {
  const { pool, url } = await chain.indexed();
  const { rows } = await pool.query<{ txid: Buffer; height: number }>(
    `SELECT l.txid, l.height FROM chain.locations l JOIN chain.inscriptions i USING (key)
     WHERE l.place = 0 AND l.txid IS NOT NULL AND l.txid <> i.txid
       AND NOT EXISTS (SELECT FROM chain.sales s WHERE s.txid = l.txid)
     ORDER BY l.spent_height NULLS FIRST, l.height LIMIT 3`,
  );
  expect(rows).toHaveLength(3);
  for (const { txid, height } of rows) {
    const words = ['sales', 'explain', Buffer.from(txid).reverse().toString('hex'), '--json'];
    const { stdout, stderr, exitCode } = await runCli([...words, '--blocks', chain.dirs.best], {
      DATABASE_URL: url,
    });
    expect([exitCode, stderr]).toEqual([0, '']);
    const moves = JSON.parse(stdout) as { refusedBy: Refusal; why: string; height: number }[];
    expect(moves.length).toBeGreaterThan(0);
    for (const move of moves) {
      expect(move).toMatchObject({ txid: words[2], height, why: refusals[move.refusedBy] });
    }
    // here the operator names the block
    const named = await runCli([...words, '--blocks', chain.dirs.best, '--height', String(height)], {
      DATABASE_URL: url,
    });
    expect(JSON.parse(named.stdout)).toEqual(moves);
  }
});

test('explain shows people the time of a sale in UTC, and programs its seconds', async () => {
  const { pool, url } = await chain.indexed();
  const { rows } = await pool.query<{ txid: Buffer; time: number }>(
    'SELECT s.txid, b.time::float8 AS time FROM chain.sales s JOIN chain.blocks b USING (height) LIMIT 1',
  );
  const { txid, time } = rows[0]!;
  const words = ['sales', 'explain', Buffer.from(txid).reverse().toString('hex')];
  const shown = `${new Date(time * 1000).toISOString().slice(0, 19)}Z`;
  expect((await runCli(words, { DATABASE_URL: url })).stdout).toContain(`time            ${shown}\n`);
  const json = await runCli([...words, '--json'], { DATABASE_URL: url });
  expect((JSON.parse(json.stdout) as object[])[0]).toMatchObject({ time });
});

test('resumes after an interruption, and works beside a service that indexes', {
  tags: ['proof'],
}, async () => {
  const database = await chain.indexed();
  await ageSales(database);
  await chain.remake(database);
  await chain.passTo(database, 50);
  const resumed = await reclassify(database, ['--json']);
  expect(JSON.parse(resumed.stdout)).toMatchObject({ resumed: true, height: bestHeight });
  const service = startCli(['serve', '--port', '0', '--blocks', chain.dirs.best], {
    DATABASE_URL: database.url,
  });
  try {
    await service.seen(/^ready \S+\n$/u);
    await database.pool.query('UPDATE chain.sales SET price = price + 1');
    const beside = await reclassify(database, ['--json']);
    expect(beside).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(beside.stdout)).toMatchObject({ resumed: false });
  } finally {
    service.child.kill('SIGTERM');
    await service.ended;
  }
  await chain.expectClean(database);
});

test('says what prevents it from finding sales', async () => {
  const empty = await createTestDatabase();
  const none = await reclassify(empty);
  expect(none).toMatchObject({ exitCode: 1, stdout: '' });
  expect(none.stderr).toContain('nothing_indexed');
  await empty.drop();
  const database = await chain.indexed({ until: 5, indexSales: false });
  const unwanted = await reclassify(database, [], { INDEX_SALES: 'false' });
  expect(unwanted.exitCode).toBe(2);
  expect(unwanted.stderr).toContain('INDEX_SALES is false');
  expect((await reclassify(database)).stderr).toContain('INDEX_SALES');
  const extra = await reclassify(database, ['all']);
  expect(extra).toMatchObject({ exitCode: 2 });
  expect(extra.stderr).toContain('unexpected word all');
});
