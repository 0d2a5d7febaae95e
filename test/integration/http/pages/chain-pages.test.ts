import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { type RawTransaction, RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { sampleStep } from '#test/support/property-runs.ts';

/** A chain with inscriptions and runes in the same outputs. */
const golden = new GoldenChain('mixed-1');
const [best] = golden.tips();
const folder = mkdtempSync(join(tmpdir(), 'satscribe-chain-pages-'));
const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

/** A response of ord's `/output` as it was recorded. */
interface Output {
  readonly address: string | null;
  readonly inscriptions: readonly string[];
  readonly outpoint: string;
  readonly runes: Readonly<Record<string, unknown>>;
  readonly spent: boolean;
  readonly indexed: boolean;
  readonly value: number;
}

let database: TestDatabase;
let blocks: BlockSource;
let app: App;
/** A service without bytes of blocks and without a node. */
let bare: App;
const transactions: { readonly transaction: RawTransaction; readonly height: number }[] = [];

beforeAll(async () => {
  golden.writeFolder(folder);
  database = await createTestDatabase();
  const { pool, readers } = database;
  blocks = await openFolderSource(folder);
  const { signal } = new AbortController();
  await follow({ source: blocks, pool, signal, threads: parseThreads(), indexAddresses: true });
  const parts = () => readerParts(readers, networks[golden.chain.network]);
  app = buildCheckedApp({ ...parts(), blocks });
  bare = buildCheckedApp(parts());
  await app.ready();
  await bare.ready();
  for (const header of best!.headers) {
    const read = RawTransactions.ofBlock(golden.block(header).bytes);
    for (let place = 0; place < read.count; place++)
      transactions.push({ transaction: read.at(place), height: header.height });
  }
});

afterAll(async () => {
  await app.close();
  await bare.close();
  await blocks.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

const pageOf = async (of: App, url: string): Promise<{ status: number; text: string }> => {
  const answer = await of.inject({ url, headers: browser });
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(answer.headers.vary).toContain('Accept');
  return { status: answer.statusCode, text: answer.body };
};
const grouped = (value: number): string => value.toLocaleString('en-US');
const textOf = ({ text }: { readonly text: string }): string =>
  text.replaceAll(/<[^>]+>/gu, ' ').replaceAll(/\s+/gu, ' ');
const recorded = <Value>(question: string): Value[] =>
  golden.answers<Value>(best!, question).flatMap(({ value }) => value ?? []);
const outputs = (): Output[] => [...recorded<Output>('output'), ...recorded<Output>('output-empty')];

/** A response of ord's `/inscription` as it was recorded. */
interface Inscription {
  readonly id: string;
  readonly satpoint: string;
}

describe('a transaction', () => {
  test('has a page with its fee, its block, its inputs and its outputs', async () => {
    const byOutpoint = new Map(
      transactions.flatMap(({ transaction: { txid, outputs: made } }) =>
        made.map((output, vout): [string, number] => [`${displayHash(txid)}:${vout}`, output.value]),
      ),
    );
    let asked = 0;
    for (const [at, { transaction, height }] of transactions.entries()) {
      if (at % sampleStep(60) !== 0) continue;
      const txid = displayHash(transaction.txid);
      const page = await pageOf(app, `/tx/${txid}`);
      expect([txid, page.status]).toEqual([txid, 200]);
      expect(page.text).toContain(`href="/block/${height}"`);
      const spent = transaction.inputs.map(
        (input) => `${displayHash(input.previousTxid)}:${input.previousVout}`,
      );
      const made = transaction.outputs.reduce((sum, { value }) => sum + value, 0);
      const values = spent.map((outpoint) => byOutpoint.get(outpoint));
      const isCoinbase = values.every((value) => value === undefined);
      for (const outpoint of isCoinbase ? [] : spent)
        expect(page.text).toContain(`href="/output/${outpoint}"`);
      if (!isCoinbase) {
        const fee = values.reduce<number>((sum, value) => sum + (value ?? 0), 0) - made;
        expect(textOf(page)).toContain(`Fee ${grouped(fee)} sat`);
      }
      for (const vout of transaction.outputs.keys())
        expect(page.text).toContain(`href="/output/${txid}:${vout}"`);
      asked += 1;
    }
    expect(asked).toBeGreaterThan(20);
  });

  test('has its reveals, moves and changes of runes', async () => {
    const moving = recorded<Inscription>('inscription').filter(({ id, satpoint }) => {
      const [made = ''] = satpoint.split(':');
      return made !== id.slice(0, 64) && !/^0+$/u.test(made);
    });
    expect(moving.length).toBeGreaterThan(3);
    for (const value of moving.filter((_, at) => at % sampleStep(30) === 0)) {
      const [txid = '', vout = ''] = value.satpoint.split(':');
      const moved = await pageOf(app, `/tx/${txid}`);
      expect(textOf(moved)).toContain('Moved here');
      expect(moved.text).toContain(`href="/inscription/${value.id}"`);
      const held = await pageOf(app, `/output/${txid}:${vout}`);
      expect(held.text).toContain(`href="/inscription/${value.id}"`);
      const revealed = await pageOf(app, `/tx/${value.id.slice(0, 64)}`);
      expect(textOf(revealed)).toContain('Inscribed here');
      expect(revealed.text).toContain(`href="/inscription/${value.id}"`);
    }
    const runic = outputs().filter(({ runes }) => Object.keys(runes).length > 0);
    for (const { outpoint, runes } of runic.filter((_, at) => at % sampleStep(40) === 0)) {
      const page = await pageOf(app, `/tx/${outpoint.slice(0, 64)}`);
      for (const name of Object.keys(runes))
        expect(page.text).toContain(`href="/rune/${encodeURIComponent(name)}"`);
    }
    expect(runic.length).toBeGreaterThan(3);
  });

  test('is ord’s JSON for clients that do not ask for HTML', async () => {
    const txid = displayHash(transactions.at(-1)!.transaction.txid);
    for (const accept of [undefined, '*/*', 'application/json']) {
      const answer = await app.inject({
        url: `/tx/${txid}?page=x`,
        headers: accept === undefined ? {} : { accept },
      });
      expect(answer.json()).toMatchObject({ txid, chain: 'regtest' });
    }
  });

  test('has a page with the facts of the index if its bytes are not here', async () => {
    const [value] = recorded<Inscription>('inscription');
    const page = await pageOf(bare, `/tx/${value!.id.slice(0, 64)}`);
    expect(page.status).toBe(200);
    expect(textOf(page)).toContain('Its inputs and outputs are unknown here: ');
    expect(page.text).toContain(`href="/inscription/${value!.id}"`);
  });

  test('is 404 with a message if it is unknown', async () => {
    const page = await pageOf(app, `/tx/${'7'.repeat(64)}`);
    expect(page.status).toBe(404);
    expect(textOf(page)).toContain(`transaction ${'7'.repeat(64)} is not known here`);
    expect((await pageOf(app, `/tx/${'7'.repeat(64)}?page=0`)).status).toBe(400);
    expect((await pageOf(app, '/tx/7')).status).toBe(400);
  });
});

describe('an output', () => {
  test('has a page with ord’s values', async () => {
    const counts = { spent: 0, unspent: 0, inscribed: 0, runic: 0 };
    const all = outputs();
    const varied = all.filter(
      ({ inscriptions, runes }) => inscriptions.length > 1 || Object.keys(runes).length > 1,
    );
    const asked = [
      ...all.filter((_, at) => at % sampleStep(150) === 0),
      ...varied.filter((_, at) => at % sampleStep(30) === 0),
      ...all.filter(({ runes }) => Object.keys(runes).length > 0).slice(0, 1),
      ...all.filter(({ inscriptions }) => inscriptions.length > 0).slice(0, 1),
    ];
    for (const { outpoint, address, value, inscriptions, runes, spent, indexed } of asked) {
      if (/^0+:/u.test(outpoint)) continue;
      const page = await pageOf(app, `/output/${outpoint}`);
      expect([outpoint, page.status]).toEqual([outpoint, 200]);
      const text = textOf(page);
      expect(text).toContain(`Value ${grouped(value)} sat`);
      if (address !== null) expect(page.text).toContain(`href="/address/${address}"`);
      for (const id of inscriptions) expect(page.text).toContain(`href="/inscription/${id}"`);
      for (const name of Object.keys(runes))
        expect(page.text).toContain(`href="/rune/${encodeURIComponent(name)}"`);
      // ord reports unspendable outputs as spent
      if (spent) expect(text).toMatch(/State (?:spent|cannot be spent)/u);
      else expect(text).toContain('State unspent');
      counts.spent += Number(spent && !indexed);
      counts.unspent += Number(!spent);
      counts.inscribed += Number(inscriptions.length > 0);
      counts.runic += Number(Object.keys(runes).length > 0);
    }
    expect(Math.min(counts.unspent, counts.inscribed, counts.runic)).toBeGreaterThan(0);
  });

  test('that was spent has its former contents, and the spending transaction', async () => {
    const moved = recorded<Inscription>('inscription').find(
      ({ id, satpoint }) => !satpoint.startsWith(id.slice(0, 64)) && !/^0+:/u.test(satpoint),
    );
    const [spender = ''] = moved!.satpoint.split(':');
    const from = transactions
      .find(({ transaction }) => displayHash(transaction.txid) === spender)!
      .transaction.inputs.map((input) => `${displayHash(input.previousTxid)}:${input.previousVout}`);
    const pages = await Promise.all(from.map(async (outpoint) => pageOf(app, `/output/${outpoint}`)));
    const held = pages.find(({ text }) => text.includes(`href="/inscription/${moved!.id}"`));
    expect(held).toBeDefined();
    expect(textOf(held!)).toContain('Inscriptions before it was spent');
    expect(held!.text).toContain(`href="/tx/${spender}"`);
  });

  test('the outputs of lost and unbound inscriptions have names', async () => {
    const zeros = '0'.repeat(64);
    for (const [outpoint, words] of [
      [`${zeros}:4294967295`, 'Inscriptions that were lost in fees'],
      [`${zeros}:0`, 'Inscriptions on no sat'],
    ] as const) {
      const page = await pageOf(app, `/output/${outpoint}`);
      expect(page.status).toBe(200);
      expect(textOf(page)).toContain(words);
    }
  });

  test('that does not exist is 404', async () => {
    const txid = displayHash(transactions.at(-1)!.transaction.txid);
    expect((await pageOf(app, `/output/${txid}:4000`)).status).toBe(404);
    expect((await pageOf(app, `/output/${'7'.repeat(64)}:0`)).status).toBe(404);
  });
});

describe('an address', () => {
  interface Holdings {
    readonly inscriptions: readonly string[];
    readonly outputs: readonly string[];
    readonly runes_balances: readonly (readonly string[])[];
    readonly sat_balance: number;
  }
  const holdings = async (address: string): Promise<Holdings> => {
    const answer = await app.inject({
      url: `/address/${address}`,
      headers: { accept: 'application/json' },
    });
    return answer.json<Holdings>();
  };
  /** The text of all pages of a tab. */
  const allOf = async (address: string, tab: string): Promise<string> => {
    let text = '';
    for (let url: string | undefined = `/address/${address}?tab=${tab}`; url !== undefined; ) {
      const page = await pageOf(app, url);
      expect([url, page.status]).toEqual([url, 200]);
      text += page.text;
      url = /<a href="([^"]+)" rel="next">/u.exec(page.text)?.[1]?.replaceAll('&amp;', '&');
    }
    return text;
  };
  const addresses = (): string[] => [...new Set(outputs().flatMap(({ address }) => address ?? []))];

  test('has a page with its totals, and its contents in tabs', async () => {
    const unspent = outputs().filter(({ spent, address }) => !spent && address !== null);
    const runic = unspent.filter(({ runes }) => Object.keys(runes).length > 0);
    const inscribed = unspent.filter(({ inscriptions }) => inscriptions.length > 0);
    const asked = new Set([...runic.slice(0, 2), ...inscribed.slice(0, 2)].map(({ address }) => address!));
    expect(Math.min(runic.length, inscribed.length)).toBeGreaterThan(0);
    for (const address of asked) {
      const holds = await holdings(address);
      const first = textOf(await pageOf(app, `/address/${address}`));
      expect(first).toContain(`Inscriptions ${grouped(holds.inscriptions.length)} `);
      expect(first).toContain(`Unspent outputs ${grouped(holds.outputs.length)} `);
      expect(first).toContain(`Value ${grouped(holds.sat_balance)} sat`);
      const inscriptions = await allOf(address, 'inscriptions');
      for (const id of holds.inscriptions) expect(inscriptions).toContain(`href="/inscription/${id}"`);
      const owned = await allOf(address, 'outputs');
      for (const outpoint of holds.outputs) expect(owned).toContain(`href="/output/${outpoint}"`);
      const runes = await allOf(address, 'runes');
      for (const [name = ''] of holds.runes_balances)
        expect(runes).toContain(`href="/rune/${encodeURIComponent(name)}"`);
    }
  });

  test('names unknown facts, and refuses a wrong tab or place', async () => {
    const [address = ''] = addresses();
    expect(textOf(await pageOf(app, `/address/${address}?tab=pending`))).toContain(
      'unknown: no mempool is being followed here',
    );
    for (const query of [
      'tab=x',
      'after=x',
      'tab=outputs&after=1',
      'tab=pending&after=1.x',
      'tab=runes&after=-1',
    ])
      expect([query, (await pageOf(app, `/address/${address}?${query}`)).status]).toEqual([query, 400]);
  });
});
