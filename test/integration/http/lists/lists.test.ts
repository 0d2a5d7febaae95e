import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { networks } from '#kernel/primitives/network.ts';
import { GoldenChain, type OrdInscription } from '#test/support/chain/golden/golden-chain.ts';
import { naiveOutputs } from '#test/support/chain/output-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { parseThreads } from '#test/support/parse-threads.ts';

const golden = new GoldenChain('reorg-1');
const tips = golden.tips();
const [best] = tips;
const longest = tips.at(-1);
if (best === undefined || longest === undefined) throw new Error('the chain has no branches');
const inscriptions = golden.inscriptions(best);
const newestFirst = golden.order(best).toReversed();

let root: string;
let database: TestDatabase;
let app: App;
let bare: TestDatabase;
let bareApp: App;

async function indexed(pool: TestDatabase['pool'], tip: string, indexAddresses: boolean): Promise<void> {
  const source = await openFolderSource(root, { tip });
  await follow({
    source,
    pool,
    signal: new AbortController().signal,
    threads: parseThreads(),
    indexAddresses,
  });
}

function appOf({ readers }: TestDatabase): App {
  return buildCheckedApp(readerParts(readers));
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'satscribe-lists-'));
  golden.writeFolder(root);
  database = await createTestDatabase();
  bare = await createTestDatabase();
  await indexed(database.pool, best.tip, true);
  await indexed(bare.pool, best.tip, false);
  app = appOf(database);
  bareApp = appOf(bare);
  await app.ready();
  await bareApp.ready();
});
afterAll(async () => {
  await app.close();
  await bareApp.close();
  await database.drop();
  await bare.drop();
  await rm(root, { recursive: true, force: true });
});

interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
  readonly headers: Record<string, unknown>;
}

async function get<Body>(url: string, from: App = app): Promise<Answer<Body>> {
  const { statusCode, body, headers } = await from.inject({ url, headers: { accept: 'application/json' } });
  return { status: statusCode, body: JSON.parse(body) as Body, headers };
}

type Fields = Readonly<Record<string, unknown>>;

interface List {
  readonly ids: string[];
  readonly more: boolean;
  readonly page_index: number;
  readonly next_cursor: string | null;
}

/** Ids of all pages of a list, by its cursors. */
async function pages(query: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = '', page = 0; cursor !== null; page++) {
    const { status, body }: Answer<List> = await get(
      `/inscriptions?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    expect(status).toBe(200);
    expect(body.page_index).toBe(page);
    expect(body.more).toBe(body.next_cursor !== null);
    ids.push(...body.ids);
    cursor = body.next_cursor;
  }
  return ids;
}

const where = (test: (inscription: OrdInscription) => boolean): string[] =>
  newestFirst.filter((id) => test(inscriptions.get(id) as OrdInscription));

describe('/inscriptions', () => {
  test('lists all, newest first, a hundred per page, as in ord', async () => {
    for (let page = 0; page * 100 < newestFirst.length; page++) {
      const { body } = await get<List>(page === 0 ? '/inscriptions' : `/inscriptions/${page}`);
      expect(body).toMatchObject({
        ids: newestFirst.slice(page * 100, page * 100 + 100),
        page_index: page,
        more: newestFirst.length > page * 100 + 100,
      });
    }
    const past = await get<List>('/inscriptions/1000');
    expect(past.body).toEqual({
      ids: newestFirst.slice(-1),
      more: false,
      page_index: 1000,
      next_cursor: null,
    });
  });

  test('continues by cursors, in either order and any size', async () => {
    expect(await pages('limit=7')).toEqual(newestFirst);
    expect(await pages('limit=90&order=asc')).toEqual(newestFirst.toReversed());
  });

  test('filters by every fact that ord has of an inscription', async () => {
    expect(await pages('cursed=true')).toEqual(where(({ number }) => number < 0));
    expect(await pages('cursed=false&limit=50')).toEqual(where(({ number }) => number >= 0));
    expect(await pages('from=100&to=120&limit=9')).toEqual(
      where(({ height }) => height >= 100 && height <= 120),
    );
    for (const type of new Set([...inscriptions.values()].map(({ content_type: name }) => name))) {
      if (type === null || type === '' || type.includes('*')) continue;
      expect(await pages(`contentType=${encodeURIComponent(type)}`)).toEqual(
        where(({ content_type: name }) => name === type),
      );
    }
    expect(await pages('contentType=text/*')).toEqual(
      where(({ content_type: name }) => name?.startsWith('text/') === true),
    );
    for (const address of [...new Set([...inscriptions.values()].map(({ address: owner }) => owner))].slice(
      0,
      20,
    )) {
      if (address !== null)
        expect(await pages(`address=${address}&limit=3`)).toEqual(where((one) => one.address === address));
    }
    const parents = [...new Set([...inscriptions.values()].flatMap(({ parents: ids }) => ids))];
    expect(parents.length).toBeGreaterThan(0);
    for (const parent of parents.slice(0, 10)) {
      expect(await pages(`parent=${parent}`)).toEqual(where(({ parents: ids }) => ids.includes(parent)));
    }
    const protocols = new Set([...inscriptions.values()].map(({ metaprotocol }) => metaprotocol));
    for (const name of protocols) {
      if (name === null || name === '') continue;
      expect(await pages(`metaprotocol=${encodeURIComponent(name)}&cursed=false`)).toEqual(
        where(({ metaprotocol, number }) => metaprotocol === name && number >= 0),
      );
    }
  });

  test.each([
    ['limit=0', 'limit must be >= 1'],
    ['limit=1001', 'limit must be <= 1000'],
    ['limit=1e2', 'limit is not a whole number'],
    ['from=-1', 'from must be >= 0'],
    ['to=x', 'to is not a whole number'],
    ['order=up', 'order must be one of asc, desc'],
    ['cursed=1', 'cursed must be one of true, false'],
    ['contentType=', 'contentType is empty'],
    ['contentType=*/*', 'contentType must be an exact type, or a class such as image/*'],
    ['parent=x', 'parent is not an inscription id'],
    ['delegate=1', 'delegate is not an inscription id'],
    ['cursor=x', 'the cursor does not belong to this list'],
    [
      'address=bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      'address: bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4 belongs to another network, but this server serves regtest',
    ],
    ['address=hello', 'address: hello is not a Bitcoin address, but this server serves regtest'],
  ])('refuses %s', async (query, error) => {
    expect(await get(`/inscriptions?${query}`)).toMatchObject({
      status: 400,
      body: { status: 'error', error },
    });
  });

  test('refuses a page with filters and a cursor of another list, and ignores unknown parameters', async () => {
    expect((await get('/inscriptions/1?cursed=true')).status).toBe(400);
    expect((await get('/inscriptions/x')).status).toBe(400);
    const { body } = await get<List>('/inscriptions?limit=2');
    expect((await get(`/inscriptions?limit=2&order=asc&cursor=${body.next_cursor}`)).status).toBe(400);
    expect((await get('/inscriptions?unknown=1')).status).toBe(200);
  });

  test('shows a page to people', async () => {
    const { statusCode, body, headers } = await app.inject({
      url: '/inscriptions?cursed=true&limit=5',
      headers: { accept: 'text/html' },
    });
    expect(statusCode).toBe(200);
    expect(headers['content-type']).toContain('text/html');
    expect(body).toContain(`/inscription/${where(({ number }) => number < 0)[0]}`);
    expect(body).toContain('cursor=');
  });
});

describe('/address and /outputs', () => {
  const chain = best.headers.map((header) => golden.block(header));
  const unspent = naiveOutputs(chain)
    .map((line) => line.split(' '))
    .filter(([, , , , spent]) => spent === 'null')
    .map(([outpoint = '', value = '', script = '', height = '']) => {
      const [txid = '', vout = ''] = outpoint.split(':');
      const shown = `${Buffer.from(txid, 'hex').reverse().toString('hex')}:${vout}`;
      return {
        txid,
        vout: Number(vout),
        outpoint: shown,
        value: Number(value),
        script,
        height: Number(height),
      };
    });
  const owners = Map.groupBy(unspent, ({ script }) =>
    scriptToAddress(Buffer.from(script, 'hex'), networks.regtest),
  );
  const recordedRunes = new Map(
    ['output', 'output-empty'].flatMap((question) =>
      golden.answers<Fields>(best, question).map(({ key, value }) => [key, value?.['runes']]),
    ),
  );
  const heldAt = new Map<string, string[]>();
  for (const id of newestFirst.toReversed()) {
    const satpoint = inscriptions.get(id)?.satpoint ?? '';
    const outpoint = satpoint.slice(0, satpoint.lastIndexOf(':'));
    heldAt.set(outpoint, [...(heldAt.get(outpoint) ?? []), id]);
  }

  test('list the unspent outputs of every address, their sum and their contents', async () => {
    let count = 0;
    // addresses with the most contents, including reinscribed and merged ones, and one in ten of all other addresses
    const known = [...owners].toSorted(([, a], [, b]) => b.length - a.length);
    for (const [place, [address, outputs]] of known.entries()) {
      if (address === null || (place > 40 && place % 10 !== 0)) continue;
      count++;
      const sorted = outputs.toSorted((a, b) =>
        a.txid < b.txid ? -1 : a.txid > b.txid ? 1 : a.vout - b.vout,
      );
      const inscribed = sorted.filter(({ outpoint }) => heldAt.has(outpoint));
      const ids = inscribed.flatMap(({ outpoint }) => heldAt.get(outpoint) ?? []);
      expect((await get(`/address/${address}`)).body).toEqual({
        inscriptions: ids,
        outputs: sorted.map(({ outpoint }) => outpoint),
        // their sums are compared in ord/runes.test.ts
        runes_balances: expect.any(Array) as unknown,
        sat_balance: outputs.reduce((sum, { value }) => sum + value, 0),
      });
      const { body } = await get<{ outpoint: string }[]>(`/outputs/${address}`);
      expect(body.toSorted((a, b) => (a.outpoint < b.outpoint ? -1 : 1))).toEqual(
        outputs
          .map(({ txid: _txid, vout: _vout, outpoint, value, script, height }) => ({
            address,
            confirmations: best.headers.length - height,
            indexed: true,
            inscriptions: heldAt.get(outpoint) ?? [],
            outpoint,
            runes: recordedRunes.get(outpoint),
            sat_ranges: null,
            script_pubkey: script,
            spent: false,
            transaction: outpoint.slice(0, 64),
            value,
          }))
          .toSorted((a, b) => (a.outpoint < b.outpoint ? -1 : 1)),
      );
      if (count % 5 !== 0) continue;
      const held = await get<{ outpoint: string }[]>(`/outputs/${address}?type=inscribed`);
      expect(held.body.map(({ outpoint }) => outpoint).sort()).toEqual(
        inscribed.map(({ outpoint }) => outpoint).sort(),
      );
      // without the index, the facts about inscriptions stay the same
      expect((await get(`/address/${address}`, bareApp)).body).toEqual({
        inscriptions: ids,
        runes_balances: (await get<Fields>(`/address/${address}`)).body['runes_balances'],
      });
      expect((await get(`/outputs/${address}?type=inscribed`, bareApp)).body).toEqual(held.body);
    }
    expect(count).toBeGreaterThan(50);
  });

  test('give the outputs in pages, oldest first', async () => {
    const [address, outputs] = [...owners]
      .filter(([name]) => name !== null)
      .toSorted(([, a], [, b]) => b.length - a.length)[0] as [string, typeof unspent];
    expect(outputs.length).toBeGreaterThan(4);
    const found: string[] = [];
    for (let cursor: string | null | undefined = null; cursor !== undefined; ) {
      const suffix = cursor === null ? '' : `&cursor=${cursor}`;
      const { body, headers } = await get<{ outpoint: string }[]>(`/outputs/${address}?limit=3${suffix}`);
      expect(body.length).toBeLessThanOrEqual(3);
      found.push(...body.map(({ outpoint }) => outpoint));
      cursor = headers['x-next-cursor'] as string | undefined;
    }
    const expected = outputs.toSorted(
      (a, b) => a.height - b.height || (a.txid < b.txid ? -1 : a.txid > b.txid ? 1 : a.vout - b.vout),
    );
    expect(found).toEqual(expected.map(({ outpoint }) => outpoint));
    const pages: string[] = [];
    let isShort = false;
    for (let suffix: string | null = ''; suffix !== null; ) {
      const { body, headers } = await get<{ outpoint: string }[]>(
        `/outputs/${address}?type=inscribed&limit=3${suffix}`,
      );
      pages.push(...body.map(({ outpoint }) => outpoint));
      const next = headers['x-next-cursor'] as string | undefined;
      if (next !== undefined && body.length < 3) isShort = true;
      suffix = next === undefined ? null : `&cursor=${next}`;
    }
    // a page is a part of all outputs
    expect(isShort).toBe(true);
    expect(pages).toEqual(found.filter((outpoint) => heldAt.has(outpoint)));
    const { headers } = await get(`/outputs/${address}?limit=1`);
    const bytes = Buffer.from(String(headers['x-next-cursor']), 'base64url');
    const ask = async (made: Uint8Array): Promise<number> =>
      (await get(`/outputs/${address}?limit=1&cursor=${Buffer.from(made).toString('base64url')}`)).status;
    expect(await ask(bytes)).toBe(200);
    expect(await ask(bytes.subarray(0, -1))).toBe(400);
    // a height, txid and vout that no answer had
    expect(await ask(Buffer.from(bytes).fill(0xff, bytes.length - 40))).toBe(200);
  });

  test('answer for an empty address, and refuse invalid ones', async () => {
    const empty = scriptToAddress(Buffer.from(`0014${'ab'.repeat(20)}`, 'hex'), networks.regtest) as string;
    expect((await get(`/address/${empty}`)).body).toEqual({
      inscriptions: [],
      outputs: [],
      runes_balances: [],
      sat_balance: 0,
    });
    expect((await get(`/outputs/${empty}`)).body).toEqual([]);
    expect((await get('/address/hello')).status).toBe(400);
    expect((await get('/outputs/1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa')).status).toBe(400);
    expect((await get(`/outputs/${empty}?type=all`)).status).toBe(400);
    for (const type of ['cardinal', 'runic'])
      expect((await get(`/outputs/${empty}?type=${type}`)).body).toEqual([]);
    expect(await get(`/outputs/${empty}`, bareApp)).toMatchObject({ status: 404 });
    const page = await app.inject({ url: `/address/${empty}`, headers: { accept: 'text/html' } });
    expect(page.body.replaceAll(/<[^>]+>/gu, ' ').replaceAll(/\s+/gu, ' ')).toContain(
      'Unspent outputs 0 Value 0 sats',
    );
  });
});

describe('/inscription/<id>/transfers', () => {
  interface Transfers {
    readonly transfers: readonly Record<string, unknown>[];
    readonly nextCursor: string | null;
  }

  test('ends at ord’s place of the inscription, as one chain of places', async () => {
    for (const id of newestFirst) {
      const { body } = await get<Transfers>(`/inscription/${id}/transfers`);
      const { transfers } = body;
      const ord = inscriptions.get(id) as OrdInscription;
      expect(transfers.at(-1)).toMatchObject({ to: ord.satpoint, address: ord.address, value: ord.value });
      expect(transfers[0]).toMatchObject({ blockHeight: ord.height, from: null, timestamp: ord.timestamp });
      for (const [place, { from }] of transfers.entries())
        if (place > 0) expect(from).toBe(transfers[place - 1]?.['to']);
      const last = transfers.at(-1)?.['kind'];
      expect(last === 'lost').toBe(ord.charms.includes('lost'));
      expect(last === 'unbound').toBe(ord.charms.includes('unbound'));
      expect(last === 'burned').toBe(ord.charms.includes('burned'));
    }
  });

  test('comes in pages, in either order', async () => {
    const { rows } = await database.pool.query<{ txid: Buffer; index: number }>(
      `SELECT i.txid, i.index FROM chain.inscriptions i JOIN chain.locations l USING (key)
       GROUP BY i.key, i.txid, i.index ORDER BY count(*) DESC LIMIT 5`,
    );
    for (const { txid, index } of rows) {
      const id = `${Buffer.from(txid).reverse().toString('hex')}i${index}`;
      const { body } = await get<Transfers>(`/inscription/${id}/transfers`);
      expect(body.transfers.length).toBeGreaterThan(2);
      for (const [order, expected] of [
        ['asc', body.transfers],
        ['desc', body.transfers.toReversed()],
      ] as const) {
        const found: unknown[] = [];
        for (let cursor: string | null = ''; cursor !== null; ) {
          const suffix: string = cursor === '' ? '' : `&cursor=${cursor}`;
          const page: Answer<Transfers> = await get(
            `/inscription/${id}/transfers?limit=1&order=${order}${suffix}`,
          );
          found.push(...page.body.transfers);
          cursor = page.body.nextCursor;
        }
        expect(found).toEqual(expected);
      }
      const first = await get<Transfers>(`/inscription/${id}/transfers?limit=1`);
      const bytes = Buffer.from(first.body.nextCursor ?? '', 'base64url');
      const made = bytes.subarray(0, -4).toString('base64url');
      expect((await get(`/inscription/${id}/transfers?limit=1&cursor=${made}`)).status).toBe(400);
    }
  });

  test('is a page for clients that name HTML, in either order and in pages, and JSON for all others', async () => {
    const { rows } = await database.pool.query<{ txid: Buffer; index: number }>(
      `SELECT i.txid, i.index FROM chain.inscriptions i JOIN chain.locations l USING (key)
       GROUP BY i.key, i.txid, i.index ORDER BY count(*) DESC LIMIT 1`,
    );
    const id = `${Buffer.from(rows[0]!.txid).reverse().toString('hex')}i${rows[0]!.index}`;
    const path = `/inscription/${id}/transfers`;
    const { body } = await get<Transfers>(path);
    const page = async (url: string): Promise<string> => {
      const answer = await app.inject({ url, headers: { accept: 'text/html,*/*;q=0.8' } });
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(answer.headers.vary).toContain('Accept');
      return answer.body;
    };
    const shown = (text: string): (string | undefined)[] =>
      [...text.matchAll(/href="\/tx\/([0-9a-f]{64})"/gu)].map(([, txid]) => txid);
    const txids = body.transfers.flatMap(({ txid }) => (txid === null ? [] : [txid]));
    expect(shown(await page(path))).toEqual(txids);
    expect(shown(await page(`${path}?order=desc`))).toEqual(txids.toReversed());
    for (const order of ['asc', 'desc'] as const) {
      const first = await page(`${path}?order=${order}&limit=1`);
      const next = /href="([^"]*)" rel="next"/u.exec(first)?.[1]?.replaceAll('&amp;', '&');
      const rest = await page(next!);
      expect([...shown(first), ...shown(rest)]).toEqual(order === 'asc' ? txids : txids.toReversed());
      expect(rest).toContain(`href="${path}?order=${order}" rel="first"`);
    }
    const addresses = body.transfers.flatMap(({ address }) => (address === null ? [] : [address]));
    for (const address of addresses)
      expect(await page(path)).toContain(`href="/address/${address as string}"`);
    for (const accept of ['*/*', 'application/json', undefined]) {
      const answer = await app.inject({ url: path, headers: accept === undefined ? {} : { accept } });
      expect(answer.json()).toEqual(body);
    }
    expect(await page(`/inscription/${id}`)).toContain(`href="${path}?order=desc">All transfers</a>`);
  });

  test('is 404 for an unknown inscription, and 400 for an invalid id', async () => {
    expect((await get(`/inscription/${'ab'.repeat(32)}i0/transfers`)).status).toBe(404);
    expect((await get('/inscription/5/transfers')).status).toBe(400);
  });
});

describe('a cursor', () => {
  test('of an undone block is stale, and one of an older block continues', async () => {
    const { body: newest } = await get<List>('/inscriptions?limit=1');
    const old = await get<List>('/inscriptions?limit=3&order=asc');
    await indexed(database.pool, longest.tip, true);
    onTestFinished(() => indexed(database.pool, best.tip, true));
    expect(await get(`/inscriptions?limit=1&cursor=${newest.next_cursor}`)).toMatchObject({
      status: 410,
      body: { error: 'the chain was reorganised after this cursor; start again at the first page' },
    });
    const page = await app.inject({
      url: `/inscriptions?limit=1&tokens=show&cursor=${newest.next_cursor}`,
      headers: { accept: 'text/html' },
    });
    expect(page.statusCode).toBe(410);
    expect(page.body).toContain('href="/inscriptions?limit=1&amp;tokens=show">Go to the first page');
    const { body } = await get<List>(`/inscriptions?limit=3&order=asc&cursor=${old.body.next_cursor}`);
    expect(body.ids).toEqual(golden.order(longest).slice(3, 6));
  });

  test('that a client invented is refused, or has an empty page', async () => {
    const { body } = await get<List>('/inscriptions?limit=1');
    const bytes = Buffer.from(body.next_cursor ?? '', 'base64url');
    const positionAt = bytes.length - 4;
    const ask = async (made: Uint8Array): Promise<number> =>
      (await get(`/inscriptions?limit=1&cursor=${Buffer.from(made).toString('base64url')}`)).status;
    expect(await ask(bytes)).toBe(200);
    expect(await ask(bytes.subarray(0, positionAt))).toBe(400);
    expect(await ask(bytes.subarray(0, positionAt + 2))).toBe(400);
    expect(await ask(Buffer.concat([bytes, Buffer.alloc(2)]))).toBe(400);
    const beyond = Buffer.from(bytes).fill(0xff, positionAt);
    expect(await ask(beyond)).toBe(200);
    // these bytes are the number of the page
    expect(await ask(Buffer.from(bytes).fill(0xff, 5, 9))).toBe(400);
  });
});
