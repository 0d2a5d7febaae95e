import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type pg from 'pg';
import { balancesOfScript, historyOfScript } from '#chain/runes/address-runes.queries.ts';
import { HolderLists } from '#chain/runes/holder-lists.ts';
import { runeDetail, runesDownFrom } from '#chain/runes/rune.queries.ts';
import { runeActivity } from '#chain/runes/rune-activity.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { ensureSecondaryIndexes } from '#indexer/apply/secondary-indexes.ts';
import { runes as runesTable } from '#indexer/derived/runes/runes.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { asRune } from '#kernel/runes/rune.ts';
import { seededRandom } from '#test/builders/random.ts';
import { benchData } from '../index/generated-chain.ts';
import type { Figure } from '../report.ts';
import { percentile } from '../statistics.ts';

/** Number of holders of one rune, and number of runes at one address. */
const holders = 200_000;
const ownedRunes = 5000;
const firstHeight = 840_000;
const balancesPerBlock = 1500;
const runesPerBlock = 100;
const firstName = 99_246_114_928_149_462n;
const nameStep = 7919n;
const questions = 300;
/**
 * Number of requests, for pages 0 to 39. Four of these need a walk over all holders, and each walk takes a tenth of a
 * second.
 */
const holderQuestions = 40;

/**
 * Fills tables like those after a year of mainnet, where half of the balances are spent. It uses SQL, because blocks
 * would take hours.
 */
async function fill(pool: pg.Pool, balances: number): Promise<void> {
  const runes = Math.floor(balances / 10);
  await pool.query(
    `INSERT INTO chain.blocks (height, hash, header, time, parsed_at, size_bytes, tx_count, island_height, anchored, has_spent,
       first_key, next_key, next_content_id, next_metadata_id)
     SELECT ${firstHeight} + g, decode(md5(g::text) || md5('h' || g), 'hex'), decode(repeat('00', 80), 'hex'), 1713571767 + g * 600,
       now(), 1500000, 2000, ${firstHeight}, true, true, 0, 0, 0, 0
     FROM generate_series(0, $1::integer / ${balancesPerBlock} + 1) AS g`,
    [Math.max(balances, 2 * holders)],
  );
  await pool.query(
    `INSERT INTO chain.runes (key, height, tx_index, spacers, divisibility, turbo, has_terms, timestamp, rune, premine, amount, cap, txid)
     SELECT g, ${firstHeight} + g / ${runesPerBlock}, g % ${runesPerBlock}, 0, 2, false, true, 1713571767,
       ${firstName} + g * ${nameStep}::numeric, 0, 1000, 1000000, decode(md5(g::text) || md5('r' || g), 'hex')
     FROM generate_series(0, $1::integer - 1) AS g`,
    [runes],
  );
  // runes come in mixed order: g * 7919 modulo a prime reaches all of them
  const insert = `INSERT INTO chain.rune_balances (height, spent_height, spent_tx_index, tx_index, vout, rune_key, amount, txid, script)
     SELECT ${firstHeight} + g / ${balancesPerBlock}, CASE WHEN isspent THEN ${firstHeight} + g / ${balancesPerBlock} + 1 END,
       CASE WHEN isspent THEN g % ${balancesPerBlock} END, g % ${balancesPerBlock}, vout, key, 1 + g::bigint * 7919 % 100000,
       decode(md5(g::text) || md5('b' || g), 'hex'), decode('5120' || md5('o' || owner) || md5('p' || owner), 'hex')`;
  await pool.query(
    `${insert} FROM (SELECT g, 1 AS vout, 1 + (g::bigint * 7919 % ($2 - 1))::integer AS key, g % 100000 AS owner, g % 2 = 0 AS isspent
     FROM generate_series(1, $1::integer) AS g) AS made`,
    [balances, runes],
  );
  // in one output of twenty, the owner has other outputs too
  await pool.query(
    `${insert} FROM (SELECT g, 2 AS vout, 0 AS key, 1000000 + CASE WHEN g % 20 = 0 THEN g % 1000 ELSE g END AS owner, false AS isspent
     FROM generate_series(1, ${Math.ceil(holders * 1.05)}) AS g) AS made`,
  );
  await pool.query(
    `${insert} FROM (SELECT g, 3 AS vout, 1 + g AS key, -1 AS owner, false AS isspent FROM generate_series(1, ${ownedRunes}) AS g) AS made`,
  );
  await pool.query(
    `INSERT INTO chain.rune_mints (rune_key, height, mints, tx_indexes)
     SELECT g % $2, ${firstHeight} + g / ${balancesPerBlock}, max(1 + g / $2), array_agg(g % ${balancesPerBlock} ORDER BY g)
     FROM generate_series(1, $1::integer) AS g GROUP BY 1, 2`,
    [Math.floor(balances / 2), runes],
  );
}

async function timesOf(count: number, ask: (question: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  await ask(0);
  for (let question = 0; question < count; question++) {
    const started = performance.now();
    await ask(question);
    times.push(performance.now() - started);
  }
  return times;
}

/** Measures responses about runes. The tables have this many balances, and a tenth as many runes. */
export async function runeAnswers(seed: string, balances: number): Promise<Figure[]> {
  const dataDir = join(benchData, 'rune-answers');
  rmSync(dataDir, { recursive: true, force: true });
  const server = await startEmbeddedPostgres({ dataDir });
  await migrate(server.url);
  const pool = createPool(server.url, { applicationName: 'satscribe bench' });
  await fill(pool, balances);
  const client = await pool.connect();
  await ensureSecondaryIndexes(client, { wanted: Object.keys(runesTable.indexes), pool });
  client.release();
  for (const table of ['blocks', 'runes', 'rune_balances', 'rune_mints'])
    await pool.query(`VACUUM ANALYZE chain.${table}`);
  const random = seededRandom(`answers ${seed}`);
  const runes = Math.floor(balances / 10);
  const height = asHeight(firstHeight + Math.floor(balances / balancesPerBlock) + 1);
  const owner = `SELECT decode('5120' || md5('o-1') || md5('p-1'), 'hex') AS script`;
  const { rows } = await pool.query<{ script: Buffer }>(owner);
  const script = rows[0]?.script ?? Buffer.alloc(0);
  const within = <Answer>(ask: (client: pg.ClientBase) => Promise<Answer>): Promise<Answer> =>
    withSnapshot(pool, (snapshot) => ask(snapshot.client), null);
  const rune = await timesOf(questions, () =>
    within((one) =>
      runeDetail(one, { kind: 'rune', rune: asRune(firstName + BigInt(random.below(runes)) * nameStep) }),
    ),
  );
  const page = await timesOf(questions, () => within((one) => runesDownFrom(one, random.below(runes), 51)));
  const tip = { height, isTip: true };
  const askHolders = (lists: HolderLists, page: number): Promise<unknown> =>
    within((one) => lists.read(one, 0, tip, { offset: page * 100, limit: 100 }, true));
  // a new block needs new lists, so each first read costs as much as after a block
  const first = await timesOf(holderQuestions, () => askHolders(new HolderLists(), 0));
  const lists = new HolderLists();
  const holding = await timesOf(holderQuestions, (question) => askHolders(lists, question));
  const address = await timesOf(questions, () =>
    within((one) => balancesOfScript(one, script, { height, above: -1, limit: 1000 })),
  );
  const newest = { order: 'desc', limit: 101, after: null } as const;
  const activity = await timesOf(questions, () => within((one) => runeActivity(one, 0, newest)));
  const history = await timesOf(questions, () => within((one) => historyOfScript(one, script, newest)));
  await pool.end();
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
  const figure = (name: string, times: readonly number[], most?: number): Figure => ({
    name,
    value: percentile(times, 0.99),
    unit: 'ms',
    ...(most === undefined ? {} : { target: { most } }),
  });
  return [
    figure('runeP99Ms', rune, 20),
    figure('runesPageP99Ms', page, 50),
    figure('holdersFirstReadP99Ms', first),
    figure('holdersP99Ms', holding, 100),
    figure('addressBalancesP99Ms', address, 50),
    figure('runeActivityP99Ms', activity),
    figure('addressHistoryP99Ms', history),
  ];
}
