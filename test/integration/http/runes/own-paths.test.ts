import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storedInscriptionKind } from '#chain/events/inscription-texts.queries.ts';
import { storedRuneKind } from '#chain/events/rune-texts.queries.ts';
import { HolderLists } from '#chain/runes/holder-lists.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import { parseRune, runeCommitment } from '#kernel/runes/rune.ts';
import { minimumRuneAt, unlockHeight } from '#kernel/runes/unlock-schedule.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { exactJson } from '#test/support/exact-json.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { whileLocked } from '#test/support/postgres/locked-tables.ts';
import { sampleStep } from '#test/support/property-runs.ts';
import { waitUntil } from '#test/support/wait-until.ts';

interface RuneAnswer {
  readonly key: string;
  readonly value: {
    readonly id: string;
    readonly mintable: boolean;
    readonly entry: {
      readonly mints: number;
      readonly number: number;
      readonly etching: string;
      readonly terms: {
        readonly amount: bigint | number | null;
        readonly cap: bigint | number | null;
        readonly height: readonly (bigint | number | null)[];
        readonly offset: readonly (bigint | number | null)[];
      } | null;
    };
  };
}

/** A line of the canonical texts (docs/events.md). They were compared with ord's own events. */
interface Event {
  readonly kind: string;
  readonly height: number;
  readonly txid: string;
  readonly output: string | null;
  readonly id: string;
  readonly amount: string;
}

interface Activity {
  readonly kind: string;
  readonly blockHeight: number;
  readonly txid: string;
  readonly output: string | null;
  readonly amount: string;
  readonly amountNumber: number | null;
  readonly address: string | null;
  readonly script: string | null;
}

interface Change {
  readonly blockHeight: number;
  readonly txid: string;
  readonly id: string;
  readonly received: { readonly amount: string };
  readonly sent: { readonly amount: string };
  readonly change: string;
}

interface Balance {
  readonly id: string;
  readonly amount: string;
  readonly outputs: number;
}

describe('runes on our own paths', () => {
  const golden = new GoldenChain('runes-1');
  const [best] = golden.tips();
  const { height: tip } = best!.headers.at(-1)!;
  const network = networks[golden.chain.network];
  const folder = mkdtempSync(join(tmpdir(), 'satscribe-runes-'));
  const runes = golden.runeAnswers(best!, 'rune.ndjson').map((line) => exactJson(line) as RuneAnswer);
  const events: Event[] = [];
  let database: TestDatabase;
  let app: App;

  beforeAll(async () => {
    golden.writeFolder(folder);
    database = await createTestDatabase();
    const { pool, readers } = database;
    const source = await openFolderSource(folder);
    await follow({ source, pool, signal: new AbortController().signal, threads: parseThreads() });
    await source.close();
    app = buildCheckedApp({
      ...readerParts(readers, network),
      eventKinds: [storedInscriptionKind, storedRuneKind],
    });
    await app.ready();
    for (let height = 0; height <= tip; height++) {
      const { body } = await app.inject(`/events/text/${height}?kind=runes`);
      for (const line of body.split('\n').slice(1, -1)) events.push(eventOf(line, height));
    }
  });

  afterAll(async () => {
    await app.close();
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  function eventOf(line: string, height: number): Event {
    const [kind = '', place = '', id = '', ...rest] = line.split(' ');
    const [txid = ''] = place.split(':');
    return {
      kind,
      height,
      txid,
      output: kind === 'transferred' ? place : null,
      id,
      // the amount of an etching is its premine
      amount: (kind === 'etched' ? rest[3] : rest[0]) ?? '',
    };
  }

  const get = async <Body>(url: string): Promise<{ status: number; body: Body }> => {
    const answer = await app.inject({ url, headers: { accept: 'application/json' } });
    return { status: answer.statusCode, body: exactJson(answer.body) as Body };
  };

  /** The entries of all pages of a list. */
  async function pages<Entry>(url: string, field: string, limit: number): Promise<Entry[]> {
    const found: Entry[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const mark = url.includes('?') ? '&' : '?';
      const suffix: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { status, body } = await get<Record<string, unknown>>(`${url}${mark}limit=${limit}${suffix}`);
      expect([url, status]).toEqual([url, 200]);
      const entries = body[field] as Entry[];
      expect(entries.length).toBeLessThanOrEqual(limit);
      found.push(...entries);
      cursor = body['nextCursor'] as string | null;
    }
    return found;
  }

  /** Addresses that have received a rune. */
  async function addressesOf({ value }: RuneAnswer): Promise<string[]> {
    const { body } = await get<{ activity: Activity[] }>(`/rune/${value.id}/activity?limit=1000`);
    return body.activity.flatMap(({ address }) => (address === null ? [] : [address]));
  }

  async function addresses(): Promise<string[]> {
    const found = new Set<string>();
    for (const rune of runes) for (const address of await addressesOf(rune)) found.add(address);
    return [...found];
  }

  /** An address that has received runes. */
  async function anAddress(): Promise<string> {
    for (const rune of runes) {
      const [address] = await addressesOf(rune);
      if (address !== undefined) return address;
    }
    throw new RangeError('no address of the chain has runes');
  }

  test('the activity of every rune is the events of all blocks, in both orders and in pages', async () => {
    expect(events.length).toBeGreaterThan(500);
    let most = 0;
    for (const { value } of runes) {
      const expected = events
        .filter(({ id }) => id === value.id)
        .map(({ kind, height, txid, output, amount }) => ({
          kind,
          blockHeight: height,
          txid,
          output,
          amount,
        }));
      most = Math.max(most, expected.length);
      const up = await pages<Activity>(`/rune/${value.id}/activity?order=asc`, 'activity', 7);
      expect(up).toMatchObject(expected);
      expect(up.length).toBe(expected.length);
      const down = await get<{ activity: Activity[] }>(`/rune/${value.id}/activity?limit=1000`);
      expect(down.body.activity).toEqual(up.toReversed());
      for (const { amount, amountNumber, output, script } of up) {
        const isSafe = BigInt(amount) <= BigInt(Number.MAX_SAFE_INTEGER);
        expect(amountNumber).toEqual(isSafe ? Number(amount) : null);
        expect(script === null).toBe(output === null);
      }
    }
    expect(most).toBeGreaterThan(14);
  });

  test('received and sent units of an address add up to its balances at every height', {
    tags: ['proof'],
  }, async () => {
    const all = await addresses();
    expect(all.length).toBeGreaterThan(50);
    const some = all.filter((_, place) => place % sampleStep(4) === 0);
    let sent = 0;
    const transferred = new Map<string, bigint>();
    for (const address of some) {
      const history = await pages<Change>(`/address/${address}/runes/history?order=asc`, 'history', 20);
      const down = await get<{ history: Change[] }>(`/address/${address}/runes/history?limit=1000`);
      expect(down.body.history).toEqual(history.toReversed());
      for (const { received, sent: spent, change, txid, id } of history) {
        expect(BigInt(change)).toBe(BigInt(received.amount) - BigInt(spent.amount));
        if (spent.amount !== '0') sent++;
        const name = `${txid} ${id}`;
        transferred.set(name, (transferred.get(name) ?? 0n) + BigInt(received.amount));
      }
      for (const height of [tip, tip - 1, tip - 10, Math.floor(tip / 2), 1]) {
        const sums = new Map<string, bigint>();
        for (const { id, change, blockHeight } of history)
          if (blockHeight <= height) sums.set(id, (sums.get(id) ?? 0n) + BigInt(change));
        const expected = Object.fromEntries([...sums].filter(([, amount]) => amount !== 0n));
        const held = await pages<Balance>(`/address/${address}/runes?at=${height}`, 'runes', 10);
        expect(Object.fromEntries(held.map(({ id, amount }) => [id, BigInt(amount)]))).toEqual(expected);
        expect(held.length).toBe(Object.keys(expected).length);
        for (const { outputs } of held) expect(outputs).toBeGreaterThan(0);
      }
      const now = await get<{ height: number; runes: Balance[] }>(`/address/${address}/runes`);
      expect(now.body).toMatchObject({ height: tip });
      expect((await get(`/address/${address}/runes?at=${tip}`)).body).toEqual(now.body);
    }
    expect(sent).toBeGreaterThan(10);
    // the history has no outputs without an address
    for (const [name, amount] of transferred) {
      const made = events.filter(({ kind, txid, id }) => kind === 'transferred' && `${txid} ${id}` === name);
      expect(amount).toBeLessThanOrEqual(made.reduce((sum, event) => sum + BigInt(event.amount), 0n));
    }
  });

  test('minting has the mints left, and whether the next block may mint', async () => {
    const states = new Set<string>();
    for (const { value } of runes) {
      const { mints, terms } = value.entry;
      const { status, body } = await get<Record<string, unknown>>(`/rune/${value.id}/minting`);
      expect(status).toBe(200);
      states.add(String(body['state']));
      expect(body['state'] === 'open').toBe(value.mintable);
      expect(body).toMatchObject({ id: value.id, mints, height: tip + 1 });
      if (terms === null) {
        expect(body).toMatchObject({ state: 'none', amount: null, cap: null, left: null, progress: null });
        continue;
      }
      const cap = BigInt(terms.cap ?? 0);
      expect(body).toMatchObject({
        amount: { amount: String(terms.amount ?? 0) },
        cap: String(cap),
        left: String(cap - BigInt(mints)),
        minted: { amount: String(BigInt(mints) * BigInt(terms.amount ?? 0)) },
      });
      const { blocksToStart, blocksToEnd } = body as {
        blocksToStart: number | null;
        blocksToEnd: number | null;
      };
      if (body['state'] === 'ended' && blocksToEnd !== null && blocksToStart === 0)
        expect(blocksToEnd).toBe(0);
      if (body['state'] === 'open') expect([null, 0]).toContain(blocksToStart);
    }
    expect([...states].sort()).toEqual(expect.arrayContaining(['ended', 'none', 'open', 'used-up']));
  });

  test('minting writes heights of any size as integers with all digits', async () => {
    const most = 2n ** 64n - 1n;
    let large = 0;
    for (const { value } of runes) {
      const { terms } = value.entry;
      if (terms === null) continue;
      const bound = (side: number, choose: (a: bigint, b: bigint) => bigint): bigint | null => {
        const [height, offset] = [terms.height[side] ?? null, terms.offset[side] ?? null];
        if (offset === null) return height === null ? null : BigInt(height);
        const sum = BigInt(value.id.split(':')[0]!) + BigInt(offset);
        const relative = sum > most ? most : sum;
        return height === null ? relative : choose(BigInt(height), relative);
      };
      const start = bound(0, (a, b) => (a > b ? a : b));
      const end = bound(1, (a, b) => (a < b ? a : b));
      const { payload } = await app.inject(`/rune/${value.id}/minting`);
      expect(payload).toContain(`"start":${start},"end":${end},`);
      if ((start ?? end ?? 0n) > Number.MAX_SAFE_INTEGER) large++;
    }
    expect(large).toBeGreaterThan(0);
  });

  test('a name is taken, reserved, locked or free', async () => {
    const { key, value } = runes.find(({ key: spaced }) => spaced.replaceAll('•', '').length < 20)!;
    for (const given of [key, key.replaceAll('•', ''), key.replaceAll('•', '.')])
      expect((await get(`/rune/${encodeURIComponent(given)}/name`)).body).toMatchObject({
        name: key.replaceAll('•', ''),
        state: 'taken',
        takenBy: { id: value.id, rune: key, etching: value.entry.etching },
        commitment: null,
      });
    expect((await get(`/rune/${'A'.repeat(27)}/name`)).body).toMatchObject({
      state: 'reserved',
      unlock: null,
      commitment: null,
      takenBy: null,
    });
    const free = parseRune('NOBODYETCHEDTHIS')!;
    expect((await get('/rune/NOBODY.ETCHED.THIS/name')).body).toEqual({
      name: 'NOBODYETCHEDTHIS',
      state: 'free',
      height: tip + 1,
      takenBy: null,
      unlock: { height: 0, blocksLeft: 0, estimatedAt: null },
      commitment: {
        push: Buffer.from(runeCommitment(free)).toString('hex'),
        blocks: 5,
        earliestReveal: tip + 6,
      },
      // no mempool is followed
      pending: null,
    });
    const locked = parseRune('ABC')!;
    const height = unlockHeight(network, locked)!;
    expect(minimumRuneAt(network, height) <= locked && minimumRuneAt(network, height - 1) > locked).toBe(
      true,
    );
    const { body } = await get<{ unlock: { estimatedAt: string }; commitment: { earliestReveal: number } }>(
      '/rune/ABC/name',
    );
    expect(body).toMatchObject({
      state: 'locked',
      unlock: { height, blocksLeft: height - tip - 1 },
      commitment: { earliestReveal: height },
    });
    const { rows } = await database.pool.query<{ time: number }>(
      'SELECT time FROM chain.blocks WHERE height = $1',
      [tip],
    );
    expect(Date.parse(body.unlock.estimatedAt) / 1000).toBe(rows[0]!.time + (height - tip) * 600);
  });

  test('impossible requests are refused with a message', async () => {
    const address = await anAddress();
    const { id } = runes[0]!.value;
    const refused = [
      `/rune/${id}/activity?order=up`,
      `/rune/${id}/activity?limit=0`,
      `/rune/${id}/activity?limit=1001`,
      `/rune/${id}/activity?cursor=abc`,
      `/rune/abc/activity`,
      `/rune/1:4294967296/activity`,
      `/rune/:1/activity`,
      `/rune/${'A'.repeat(29)}/minting`,
      `/rune/${id}/name`,
      `/rune/7/name`,
      `/rune/abc/name`,
      `/rune/${encodeURIComponent('A••B')}/name`,
      `/rune/${encodeURIComponent('•A')}/name`,
      `/rune/${'Z'.repeat(28)}/name`,
      `/address/${address}/runes?at=${tip + 1}`,
      `/address/${address}/runes?at=-1`,
      `/address/${address}/runes?at=x`,
      `/address/${address}/runes?limit=0`,
      `/address/${address}/runes?cursor=AAAA`,
      `/address/${address}/runes/history?cursor=AAAA`,
      `/address/${address}/runes/history?order=1`,
      '/address/bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq/runes',
      '/address/nonsense/runes/history',
    ];
    for (const url of refused) {
      const { status, body } = await get<{ error?: string }>(url);
      expect([url, status]).toEqual([url, 400]);
      expect(body.error).not.toBe('');
    }
    for (const [url, parameter] of [
      [`/rune/${id}/holders?at=x`, 'at'],
      [`/rune/${id}/holders?at=${tip + 1}`, 'at'],
      [`/address/${address}/runes?at=x`, 'at'],
      ['/rune/abc/holders', 'rune'],
    ] as const)
      expect((await get(url)).body).toMatchObject({ code: 'request_invalid', parameter });
    const foreign = await get<{ nextCursor: string }>(`/rune/${id}/activity?limit=1`);
    const { nextCursor } = foreign.body;
    if (nextCursor !== null)
      expect((await get(`/address/${address}/runes/history?cursor=${nextCursor}`)).status).toBe(400);
    for (const url of [
      '/rune/NOBODYETCHEDTHIS/activity',
      '/rune/99999/minting',
      '/rune/5:4294967295/minting',
    ])
      expect([url, (await get(url)).status]).toEqual([url, 404]);
    const forged = Buffer.from(nextCursor ?? '', 'base64url');
    forged.fill(0xff, forged.length - 16);
    expect((await get(`/rune/${id}/activity?limit=1&cursor=${forged.toString('base64url')}`)).status).toBe(
      200,
    );
  });

  test('one list of holders is made at once for a client, and its statements have a limit', async () => {
    const { readers } = database;
    const url = `/rune/${runes[0]!.value.id}/holders?at=${tip}`;
    await whileLocked(database, 'chain.rune_balances', async (unlock) => {
      const asked = [get(url), get(url), get(url)];
      await waitUntil(async () => {
        expect((await app.inject('/metrics')).body).toContain(
          'satscribe_queue_length{queue="holders of runes"} 2',
        );
      });
      await unlock();
      expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200]);
    });
    const limit = await withSnapshot(
      readers,
      async ({ client }) => {
        const moment = { height: asHeight(tip), isTip: true };
        await new HolderLists().read(client, 0, moment, { offset: 0, limit: 1 }, true);
        const { rows } = await client.query<{ statement_timeout: string }>('SHOW statement_timeout');
        return rows[0]?.statement_timeout;
      },
      null,
    );
    expect(limit).toBe('10s');
  });

  test('answers are refused if blocks are missing, or while the table is being filled', async () => {
    const { pool } = database;
    const address = await anAddress();
    const urls = [
      `/rune/${runes[0]!.value.id}/activity`,
      `/rune/${runes[0]!.value.id}/minting`,
      '/rune/NOBODYETCHEDTHIS/name',
      `/address/${address}/runes`,
      `/address/${address}/runes/history`,
    ];
    await pool.query('UPDATE chain.rune_blocks SET anchored = false WHERE height = $1', [tip]);
    for (const url of urls) expect([url, (await get(url)).status]).toEqual([url, 404]);
    await pool.query('UPDATE chain.rune_blocks SET anchored = true WHERE height = $1', [tip]);
    await pool.query(
      `UPDATE chain.derived_tables SET is_followed = false, tip_height = $1,
         tip_hash = (SELECT hash FROM chain.blocks WHERE height = $1) WHERE name = 'runes'`,
      [tip - 1],
    );
    for (const url of urls) expect([url, (await get(url)).status]).toEqual([url, 503]);
    await pool.query(
      "UPDATE chain.derived_tables SET is_followed = true, tip_height = NULL, tip_hash = NULL WHERE name = 'runes'",
    );
    for (const url of urls) expect([url, (await get(url)).status]).toEqual([url, 200]);
  });
});
