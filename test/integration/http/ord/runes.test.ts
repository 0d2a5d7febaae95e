import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storedInscriptionKind } from '#chain/events/inscription-texts.queries.ts';
import { storedRuneKind } from '#chain/events/rune-texts.queries.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { networks } from '#kernel/primitives/network.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { exactJson } from '#test/support/exact-json.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { createHttpApp } from '#test/support/http-app.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { sampleStep } from '#test/support/property-runs.ts';

/** A response of ord's `/output` as it was recorded. */
interface Output {
  readonly address: string | null;
  readonly indexed: boolean;
  readonly inscriptions: readonly string[];
  readonly outpoint: string;
  readonly runes: Readonly<
    Record<string, { amount: number | bigint; divisibility: number; symbol: string | null }>
  >;
  readonly script_pubkey: string;
  readonly spent: boolean;
  readonly sat_ranges: unknown;
}

interface RuneAnswer {
  readonly key: string;
  readonly value: {
    readonly id: string;
    readonly entry: { readonly etching: string; readonly spaced_rune: string };
  };
}

/** An amount in units of the rune. It is computed in another way than in the product. */
function unitsOf(amount: bigint, divisibility: number): string {
  const magnitude = 10n ** BigInt(divisibility);
  const rest = amount % magnitude;
  const digits = rest.toString().padStart(divisibility, '0');
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return rest === 0n ? `${amount / magnitude}` : `${amount / magnitude}.${digits.slice(0, end)}`;
}

// the second chain has inscriptions and runes in the same outputs
describe.each(['runes-1', 'mixed-1'])('runes of the golden chain %s', (name) => {
  const golden = new GoldenChain(name);
  const [best] = golden.tips();
  const folder = mkdtempSync(join(tmpdir(), 'satscribe-runes-'));
  const runes = golden.runeAnswers(best!, 'rune.ndjson').map((line) => exactJson(line) as RuneAnswer);
  const byAddress = new Map<string, Output[]>();
  let database: TestDatabase;
  let blocks: BlockSource;
  let app: App;

  beforeAll(async () => {
    golden.writeFolder(folder);
    database = await createTestDatabase();
    const { pool, readers } = database;
    blocks = await openFolderSource(folder);
    const { signal } = new AbortController();
    await follow({ source: blocks, pool, signal, threads: parseThreads(), indexAddresses: true });
    app = buildCheckedApp({
      ...readerParts(readers, networks[golden.chain.network]),
      blocks,
      eventKinds: [storedInscriptionKind, storedRuneKind],
    });
    await app.ready();
    for (const question of ['output', 'output-empty']) {
      for (const line of golden.answerLines(best!, question)) {
        const { value } = exactJson(line) as { value: Output };
        const { address, indexed, spent } = value;
        if (address === null || !indexed || spent) continue;
        byAddress.set(address, [...(byAddress.get(address) ?? []), { ...value, sat_ranges: null }]);
      }
    }
  });

  afterAll(async () => {
    await app.close();
    await blocks.close();
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  const get = async (url: string): Promise<{ status: number; body: unknown; location: unknown }> => {
    const answer = await app.inject({ url, headers: { accept: 'application/json' } });
    const isJson = String(answer.headers['content-type']).startsWith('application/json');
    const { location } = answer.headers;
    return { status: answer.statusCode, body: isJson ? exactJson(answer.body) : answer.body, location };
  };
  const byOutpoint = (outputs: readonly Output[]): Output[] =>
    outputs.toSorted((a, b) => (a.outpoint < b.outpoint ? -1 : 1));
  const isRunic = (output: Output): boolean => Object.keys(output.runes).length > 0;
  /** Whether an address has several runes in one output, or runes in one of several outputs. */
  const isVaried = (outputs: readonly Output[]): boolean =>
    outputs.some(isRunic) && (outputs.length > 1 || Object.keys(outputs[0]!.runes).length > 1);
  /** All varied addresses, a sample of the addresses with one rune, and a sample of all others. */
  const addresses = (): [string, Output[]][] =>
    [...byAddress].filter(
      ([, outputs], place) =>
        isVaried(outputs) || place % (outputs.some(isRunic) ? sampleStep(6) : sampleStep(120)) === 0,
    );

  test('an address has the sums of its outputs, by the number of the name', async () => {
    const order = new Map(runes.map(({ value }) => [value.entry.spaced_rune, 0n]));
    for (const spaced of order.keys()) {
      const letters = spaced.replaceAll('•', '');
      let number = -1n;
      for (const letter of letters) number = (number + 1n) * 26n + BigInt(letter.charCodeAt(0) - 65);
      order.set(spaced, number);
    }
    let most = 0;
    for (const [address, outputs] of addresses()) {
      const sums = new Map<string, { amount: bigint; divisibility: number; symbol: string | null }>();
      for (const [spaced, held] of outputs.flatMap((output) => Object.entries(output.runes))) {
        const amount = BigInt(held.amount) + (sums.get(spaced)?.amount ?? 0n);
        sums.set(spaced, { ...held, amount });
      }
      const expected = [...sums]
        .sort(([a], [b]) => (order.get(a)! < order.get(b)! ? -1 : 1))
        .map(([spaced, { amount, divisibility, symbol }]) => [spaced, unitsOf(amount, divisibility), symbol]);
      most = Math.max(most, expected.length);
      const { body } = await get(`/address/${address}`);
      expect(body).toMatchObject({ runes_balances: expected });
    }
    expect(most).toBeGreaterThan(1);
  });

  test('outputs of an address can be filtered by their contents', async () => {
    const seen = { runic: 0, cardinal: 0, inscribed: 0, any: 0 };
    for (const [address, outputs] of addresses()) {
      const parts = {
        any: outputs,
        runic: outputs.filter(isRunic),
        inscribed: outputs.filter(({ inscriptions }) => inscriptions.length > 0),
        cardinal: outputs.filter((output) => !isRunic(output) && output.inscriptions.length === 0),
      };
      for (const [type, expected] of Object.entries(parts)) {
        const { status, body } = await get(`/outputs/${address}?type=${type}`);
        expect(status).toBe(200);
        expect(byOutpoint(body as Output[])).toEqual(byOutpoint(expected));
        seen[type as keyof typeof seen] += expected.length;
      }
    }
    expect(seen.runic).toBeGreaterThan(0);
    expect(seen.cardinal).toBeGreaterThan(0);
  });

  test('many outputs at once, each twice, and outputs for inscriptions', async () => {
    const outputs = [...byAddress.values()].flat().filter(isRunic);
    expect(outputs.length).toBeGreaterThan(10);
    const twice = [...outputs, ...outputs];
    const answer = await app.inject({
      method: 'POST',
      url: '/outputs',
      payload: twice.map(({ outpoint }) => outpoint),
    });
    expect(exactJson(answer.body)).toEqual(twice);
    for (const { outpoint, inscriptions, runes: held } of outputs.slice(0, 20)) {
      const { body } = await get(`/r/utxo/${outpoint}`);
      expect(body).toMatchObject({ inscriptions, runes: held, sat_ranges: null });
    }
  });

  test('names in an output are in the order of their numbers', async () => {
    const lines = golden.answerLines(best!, 'output-empty');
    const held = lines.flatMap((line) => {
      const [, outpoint, text] = /"outpoint":"([^"]+)","runes":(\{".*\}),"sat_ranges"/u.exec(line) ?? [];
      return outpoint === undefined || text === undefined ? [] : [{ outpoint, text }];
    });
    expect(held.length).toBeGreaterThan(10);
    // take a sample of outputs with only one rune, because one name has no order
    const some = held.filter(
      ({ text }, place) => text.split('"amount"').length > 2 || place % sampleStep(6) === 0,
    );
    expect(some.some(({ text }) => text.split('"amount"').length > 2)).toBe(true);
    for (const { outpoint, text } of some) {
      const { body } = await app.inject(`/output/${outpoint}`);
      expect(body).toContain(`"runes":${text},"sat_ranges"`);
    }
  });

  test('a transaction names the rune that it etched', async () => {
    for (const { value } of runes.slice(0, 40)) {
      const { body } = await get(`/tx/${value.entry.etching}`);
      expect(body).toMatchObject({ etching: value.entry.spaced_rune });
    }
    const etchings = new Set(runes.map(({ value }) => value.entry.etching));
    const other = golden.answers<unknown>(best!, 'decode').find(({ key }) => !etchings.has(key))!;
    expect((await get(`/tx/${other.key}`)).body).toMatchObject({ etching: null });
  });

  test('searches and bare paths lead to runes that exist', async () => {
    const { key, value } = runes.find(({ key: spaced }) => spaced.includes('•')) ?? runes[0]!;
    for (const given of [key, key.replaceAll('•', '.'), key.replaceAll('•', '')]) {
      const target = `/rune/${encodeURIComponent(given)}`;
      for (const url of [
        `/search/${encodeURIComponent(given)}`,
        `/search?query=${encodeURIComponent(given)}`,
        `/${encodeURIComponent(given).replace('%3A', ':')}`,
      ])
        expect([url, await get(url)]).toMatchObject([url, { status: 303, location: target }]);
      expect((await get(target)).status).toBe(200);
    }
    // as in ord: a search by id redirects to the name
    const named = { status: 303, location: `/rune/${key.replaceAll('•', '')}` };
    for (const url of [`/search/${value.id}`, `/search?query=${value.id}`])
      expect([url, await get(url)]).toMatchObject([url, named]);
    expect(await get(`/${value.id}`)).toMatchObject({ status: 303, location: `/rune/${value.id}` });
    for (const url of ['/search/2:1', '/search?query=2:1'])
      expect(await get(url)).toMatchObject({ status: 303, location: '/rune/2:1' });
    expect(await get(`/${encodeURIComponent('NOBODY•ETCHEDTHIS')}`)).toMatchObject({
      status: 303,
      location: `/?text=${encodeURIComponent('NOBODY•ETCHEDTHIS')}`,
    });
    expect(await get('/search/NOBODYETCHEDTHIS')).toMatchObject({ location: '/?text=NOBODYETCHEDTHIS' });
    expect((await get('/NOBODYETCHEDTHIS')).status).toBe(404);
  });

  interface Holders {
    readonly height: number;
    readonly held: string;
    readonly count: number;
    readonly proven: boolean;
    readonly holders: readonly { script: string; amount: string; outputs: number; address: string | null }[];
    readonly nextCursor: string | null;
  }

  test('holders of every rune are the owners of its outputs, in pages too, and the sum is proven', async () => {
    const byRune = new Map<string, Map<string, { amount: bigint; outputs: number }>>();
    for (const question of ['output', 'output-empty']) {
      for (const line of golden.answerLines(best!, question)) {
        const { value } = exactJson(line) as { value: Output };
        for (const [spaced, held] of Object.entries(value.runes)) {
          const owners = byRune.get(spaced) ?? new Map<string, { amount: bigint; outputs: number }>();
          const owned = owners.get(value.script_pubkey) ?? { amount: 0n, outputs: 0 };
          owned.amount += BigInt(held.amount);
          owned.outputs += 1;
          byRune.set(spaced, owners.set(value.script_pubkey, owned));
        }
      }
    }
    let most = 0;
    for (const { key } of runes) {
      const expected = [...(byRune.get(key) ?? [])]
        .map(([script, { amount, outputs }]) => ({ script, amount, outputs }))
        .sort((a, b) =>
          a.amount === b.amount ? (a.script < b.script ? -1 : 1) : a.amount > b.amount ? -1 : 1,
        )
        .map(({ script, amount, outputs }) => ({ script, amount: String(amount), outputs }));
      most = Math.max(most, expected.length);
      const found: Holders['holders'][number][] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const suffix: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const { status, body } = await get(`/rune/${encodeURIComponent(key)}/holders?limit=2${suffix}`);
        expect([key, status]).toEqual([key, 200]);
        const page = body as Holders;
        expect(page).toMatchObject({ proven: true, count: expected.length });
        found.push(...page.holders);
        cursor = page.nextCursor;
      }
      expect(found).toMatchObject(expected);
      expect(found.length).toBe(expected.length);
    }
    expect(most).toBeGreaterThan(2);
  });

  test('holders at any height have a proven sum, and heights above the tip are refused', async () => {
    const { height: tip } = best!.headers.at(-1)!;
    for (const { value } of runes.slice(0, 12)) {
      const sums = new Set<string>();
      const block = Number(value.id.split(':')[0]);
      for (let at = block - 1; at <= tip; at += 5) {
        const { body } = await get(`/rune/${value.id}/holders?at=${at}`);
        expect(body).toMatchObject({ height: at, proven: true });
        sums.add((body as Holders).held);
        if (at < block) expect(body).toMatchObject({ held: '0', count: 0, holders: [], premine: '0' });
      }
      const whole = (await get(`/rune/${value.id}/holders`)).body;
      expect((await get(`/rune/${value.id}/holders?at=${tip}`)).body).toEqual(whole);
      expect(sums.size).toBeGreaterThan(0);
    }
    const { id } = runes[0]!.value;
    for (const bad of [`at=${tip + 1}`, 'at=-1', 'at=x', 'limit=0', 'cursor=abc', 'height=1'])
      expect([bad, (await get(`/rune/${id}/holders?${bad}`)).status]).toEqual([bad, 400]);
    expect((await get('/rune/NOBODYETCHEDTHIS/holders')).status).toBe(404);
  });

  test('invalid names are refused, and unknown runes are not found', async () => {
    const refused = [
      'A'.repeat(29),
      'Z'.repeat(28),
      'abc',
      '•A',
      'A•',
      'A••B',
      'A..B',
      '1:4294967296',
      '18446744073709551616:1',
      '18446744073709551616',
      ':1',
      '1:',
      '1:2:3',
      '-1',
      '1.5',
      'A B',
      '\u0000',
    ];
    for (const name of refused)
      expect([name, (await get(`/rune/${encodeURIComponent(name)}`)).status]).toEqual([name, 400]);
    const missing = {
      NOBODYETCHEDTHIS: 'NOBODYETCHEDTHIS',
      'NOBODY.ETCHED.THIS': 'NOBODYETCHEDTHIS',
      '0:0': '0:0',
      '5:4294967295': '5:4294967295',
      '18446744073709551615:1': '18446744073709551615:1',
      '99999': 'number 99999',
      '18446744073709551615': 'number 18446744073709551615',
      BCGDENLQRQWDSLRUGSNLBTMFIJAV: 'BCGDENLQRQWDSLRUGSNLBTMFIJAV',
    };
    for (const [given, said] of Object.entries(missing))
      expect(await get(`/rune/${given}`)).toMatchObject({
        status: 404,
        body: { status: 'error', error: `rune ${said} not found` },
      });
    for (const page of ['-1', '1.5', 'x', '4294967296'])
      expect((await get(`/runes/${page}`)).status).toBe(400);
    expect((await get('/runes/4294967295')).body).toMatchObject({ entries: [], more: false });
    const [address] = [...byAddress.keys()];
    expect((await get(`/outputs/${address}?type=runes`)).status).toBe(400);
  });

  test('the search box redirects to runes and sats, and offers possible meanings', async () => {
    const typed = async (text: string) => (await get(`/?q=${encodeURIComponent(text)}`)).location;
    const spaced = runes.map(({ value }) => value.entry.spaced_rune).find((text) => text.includes('•'))!;
    const word = spaced.replaceAll('•', '');
    const path = `/rune/${encodeURIComponent(spaced)}`;
    for (const text of [spaced, spaced.toLowerCase()]) expect(await typed(text)).toBe(path);
    const [first] = runes;
    expect(await typed(` ${first!.value.id} `)).toBe(`/rune/${encodeURIComponent(first!.key)}`);
    expect(await typed('0°1′1″0‴')).toBe('/sat/5000000000');
    // block 1 has only its coinbase, so the coinbase's txid is the merkle root; no table has this txid, but its block
    // does
    const { merkle_root: coinbase } = (await get('/r/blockinfo/1')).body as unknown as {
      merkle_root: string;
    };
    expect(await typed(coinbase)).toBe(`/tx/${coinbase}`);
    expect(await typed('NOBODY•ETCHED•THIS')).toBe(`/?text=${encodeURIComponent('NOBODY•ETCHED•THIS')}`);
    expect(await typed(word)).toBe(`/?text=${word}`);
    const page = async (text: string) => String((await get(`/?text=${encodeURIComponent(text)}`)).body);
    for (const text of [word, word.toLowerCase(), spaced.replaceAll('•', '.'), spaced.replaceAll('•', ' ')])
      expect(await page(text)).toContain(`<li class="meaning"><a href="${path}">`);
    expect(await page('1.5')).toContain('<li class="meaning"><a href="/sat/5000000005">');
    // this is only the name of a sat, so it is after the texts
    const cards = (await page('word'))
      .split('class="filters"')
      .map((part) => part.split('class="meaning"').length - 1);
    expect(cards).toEqual([0, 1]);
  });

  test('the page of an address shows its runes', async () => {
    const [address, outputs] = [...byAddress].find(([, held]) => held.some(isRunic))!;
    const page = await app.inject({ url: `/address/${address}?tab=runes`, headers: { accept: 'text/html' } });
    for (const name of outputs.flatMap(({ runes: held }) => Object.keys(held)))
      expect(page.body).toContain(`<a href="/rune/${encodeURIComponent(name)}">${name}</a>`);
  });

  test('a browser gets pages of all runes, and every other client ord’s JSON', async () => {
    const page = async (url: string) => {
      const answer = await app.inject({ url, headers: { accept: 'text/html,*/*;q=0.8' } });
      expect([url, answer.statusCode]).toEqual([url, 200]);
      expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(answer.headers['vary']).toContain('Accept');
      expect(answer.body).not.toMatch(/<script(?! src="\/assets\/)|style="/u);
      return answer;
    };
    const listed: string[] = [];
    for (let url: string | undefined = '/runes'; url !== undefined; ) {
      const { body } = await page(url);
      listed.push(
        ...[...body.matchAll(/<th scope="row"><span><a href="\/rune\/([^"]+)">/gu)].map((match) => match[1]!),
      );
      url = /<a href="([^"]+)" rel="next">/u.exec(body)?.[1];
    }
    const names = runes.map(({ value }) => encodeURIComponent(value.entry.spaced_rune));
    expect(listed.toSorted()).toEqual(names.toSorted());
    for (const { value } of runes.filter((_, place) => place % sampleStep(3) === 0)) {
      const { spaced_rune: spaced, etching } = value.entry;
      const url = `/rune/${encodeURIComponent(spaced)}`;
      const answer = await page(url);
      expect(answer.body).toContain(`<h1 class="wrap">${spaced}</h1>`);
      expect(answer.body).toContain(etching);
      const again = await app.inject({
        url,
        headers: { accept: 'text/html', 'if-none-match': String(answer.headers.etag) },
      });
      expect(again.statusCode).toBe(304);
    }
    const { id } = runes[0]!.value;
    for (const accept of ['*/*', 'application/json', 'application/json, text/html'])
      for (const url of [`/rune/${id}`, '/runes'])
        expect((await app.inject({ url, headers: { accept } })).headers['content-type']).toContain('json');
    const missing = await app.inject({ url: '/rune/NOBODYETCHEDTHIS', headers: { accept: 'text/html' } });
    expect([missing.statusCode, missing.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
  });

  test('runes are unknown if blocks are missing', async () => {
    const { height } = best!.headers.at(-1)!;
    await setAnchored(height, false);
    const words =
      'runes are unknown here, because blocks since the first rune height are missing. `npm run demo -- --sample regtest` has a complete chain';
    for (const url of [`/rune/${runes[0]!.value.id}`, '/runes'])
      expect(await get(url)).toMatchObject({ status: 404, body: { error: words } });
    await expectUnknown(400);
    expect((await get(`/block/${height}`)).body).toMatchObject({ runes: null });
    const { satscribe } = (await get('/status')).body as { satscribe: { derivedTables: { name: string }[] } };
    expect(satscribe.derivedTables.find(({ name: table }) => table === 'runes')).toMatchObject({
      state: 'gap',
    });
    expect((await get(`/events/text/${height}?kind=runes`)).status).toBe(404);
    expect((await get(`/events/text/${height - 1}?kind=runes`)).status).toBe(200);
    await setAnchored(height, true);
    expect((await get('/runes')).status).toBe(200);
  });

  /** Changes facts of a block in a way that no block can, so that the test recognises old responses of this tip. */
  async function setAnchored(height: number, isAnchored: boolean): Promise<void> {
    await database.pool.query('UPDATE chain.rune_blocks SET anchored = $2 WHERE height = $1', [
      height,
      isAnchored,
    ]);
    await database.pool.query('UPDATE chain.state SET undo_epoch = undo_epoch + 1');
  }

  test('while the table is being filled, answers that only need it are refused', async () => {
    const { pool } = database;
    const { height } = best!.headers.at(-1)!;
    await pool.query(
      `UPDATE chain.derived_tables SET is_followed = false, tip_height = $1,
         tip_hash = (SELECT hash FROM chain.blocks WHERE height = $1) WHERE name = 'runes'`,
      [height - 1],
    );
    const said = `It has reached height ${height - 1} of ${height}`;
    for (const url of [`/rune/${runes[0]!.value.id}`, '/runes']) {
      const { status, body } = await get(url);
      expect(status).toBe(503);
      expect(JSON.stringify(body)).toContain(said);
    }
    await expectUnknown(503);
    await pool.query(
      "UPDATE chain.derived_tables SET is_followed = true, tip_height = NULL, tip_hash = NULL WHERE name = 'runes'",
    );
    expect((await get('/runes')).status).toBe(200);
  });

  async function expectUnknown(status: number): Promise<void> {
    const [address, [output]] = [...byAddress].find(([, outputs]) => outputs.some(isRunic))!;
    expect((await get(`/output/${output!.outpoint}`)).body).toMatchObject({ runes: null });
    expect((await get(`/r/utxo/${output!.outpoint}`)).body).toMatchObject({ runes: null });
    expect((await get(`/address/${address}`)).body).toMatchObject({ runes_balances: null });
    for (const shown of (await get(`/outputs/${address}`)).body as Output[]) expect(shown.runes).toBeNull();
    for (const type of ['runic', 'cardinal'])
      expect((await get(`/outputs/${address}?type=${type}`)).status).toBe(status);
    expect((await get('/status')).body).toMatchObject({ rune_index: false, runes: 0 });
  }
});

test('without a rune index, ord’s words', async () => {
  const http = await createHttpApp([{ height: 100, rows: [] }]);
  for (const url of ['/rune/UNCOMMON.GOODS', '/rune/1:0', '/runes', '/runes/3']) {
    const answer = await http.app.inject(url);
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toEqual({ status: 'error', error: 'this server has no rune index' });
  }
  expect((await http.app.inject('/status')).json()).toMatchObject({ rune_index: false, runes: 0 });
  await http.close();
});
