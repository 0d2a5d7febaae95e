import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { networks } from '#kernel/primitives/network.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { exactJson } from '#test/support/exact-json.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { sampleStep } from '#test/support/property-runs.ts';

interface RuneAnswer {
  readonly value: {
    readonly id: string;
    readonly mintable: boolean;
    readonly entry: { readonly spaced_rune: string; readonly mints: number; readonly number: number };
  };
}

describe('pages of runes', () => {
  const golden = new GoldenChain('runes-1');
  const [best] = golden.tips();
  const { height: tip } = best!.headers.at(-1)!;
  const folder = mkdtempSync(join(tmpdir(), 'satscribe-runes-'));
  const runes = golden.runeAnswers(best!, 'rune.ndjson').map((line) => exactJson(line) as RuneAnswer);
  let database: TestDatabase;
  let app: App;

  beforeAll(async () => {
    golden.writeFolder(folder);
    database = await createTestDatabase();
    const { pool, readers } = database;
    const source = await openFolderSource(folder);
    await follow({ source, pool, signal: new AbortController().signal, threads: parseThreads() });
    await source.close();
    app = buildCheckedApp(readerParts(readers, networks[golden.chain.network]));
    await app.ready();
  });

  afterAll(async () => {
    await app.close();
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  describe('the list for people', () => {
    const names = async (query: string): Promise<string[]> => {
      const found: string[] = [];
      for (let url: string | undefined = `/runes${query}`; url !== undefined; ) {
        const { statusCode, body }: { statusCode: number; body: string } = await app.inject({
          url,
          headers: { accept: 'text/html' },
        });
        expect([url, statusCode]).toEqual([url, 200]);
        found.push(
          ...[...body.matchAll(/<th scope="row"><span><a href="[^"]+">([^<]+)</gu)].map((m) => m[1]!),
        );
        url = /<a href="([^"]+)" rel="next">/u.exec(body)?.[1]?.replaceAll('&amp;', '&');
      }
      return found;
    };
    const named = ({ value }: RuneAnswer): string => value.entry.spaced_rune;
    const lettersOf = (name: string): string => name.replaceAll('•', '');
    const byNumber = runes.toSorted((a, b) => a.value.entry.number - b.value.entry.number);

    test('has each of its orders, and a filter for runes that can be minted now', async () => {
      expect(await names('')).toEqual(byNumber.map(named).toReversed());
      expect(await names('?sort=oldest')).toEqual(byNumber.map(named));
      // ord sorts names by number, so short names are first
      const short = byNumber
        .map(named)
        .toSorted(
          (a, b) => lettersOf(a).length - lettersOf(b).length || (lettersOf(a) < lettersOf(b) ? -1 : 1),
        );
      expect(await names('?sort=name')).toEqual(short);
      const most = byNumber.toSorted((a, b) => b.value.entry.mints - a.value.entry.mints).map(named);
      expect(await names('?sort=mints')).toEqual(most);
      const open = byNumber.filter(({ value }) => value.mintable).map(named);
      expect(open.length).toBeGreaterThan(3);
      expect(open.length).toBeLessThan(runes.length);
      expect(await names('?sort=oldest&minting=now')).toEqual(open);
      expect(await names('?sort=name&minting=now')).toEqual(short.filter((name) => open.includes(name)));
      expect(await names('?sort=mints&minting=now')).toEqual(most.filter((name) => open.includes(name)));
    });

    test('finds names by their beginning, in any case and with any spacers', async () => {
      for (const rune of byNumber.filter((_, place) => place % sampleStep(9) === 0)) {
        const letters = lettersOf(named(rune));
        for (const length of [1, 4, letters.length]) {
          const prefix = letters.slice(0, length);
          const expected = byNumber.map(named).filter((name) => lettersOf(name).startsWith(prefix));
          const written = encodeURIComponent(prefix.toLowerCase().split('').join('•'));
          for (const sort of ['oldest', 'name', 'mints'])
            expect((await names(`?q=${written}&sort=${sort}`)).toSorted()).toEqual(expected.toSorted());
          expect(await names(`?q=${prefix}`)).toEqual(expected.toReversed());
        }
      }
    });

    test('gives advice if it is empty, and ignores meaningless values', async () => {
      const body = async (url: string): Promise<string> =>
        (await app.inject({ url, headers: { accept: 'text/html' } })).body;
      expect(await body('/runes?q=%3Cb%3E1')).toContain('Names of runes only have the letters A to Z');
      expect(await body('/runes?q=QXJWQXJW')).toContain('Show all runes');
      expect(await body('/runes?page=900000000')).toContain('is past the end');
      expect(await body('/runes?sort=mint&minting=yes&page=-1&q=&q=')).toContain(
        `>${named(byNumber.at(-1)!)}</a>`,
      );
    });
  });

  test('people get holders and activity as pages, and all other clients get the same JSON', async () => {
    const seen: Record<'holders' | 'activity', number> = { holders: 0, activity: 0 };
    const show = async (url: string) => app.inject({ url, headers: { accept: 'text/html' } });
    const steps = async (url: string): Promise<string[]> => {
      const found: string[] = [];
      for (let next: string | undefined = url; next !== undefined; ) {
        const answer: Awaited<ReturnType<typeof show>> = await show(next);
        const { statusCode, headers, body } = answer;
        expect([next, statusCode, headers.vary]).toEqual([next, 200, expect.stringContaining('Accept')]);
        found.push(body);
        next = /<a href="([^"]+)" rel="next">/u.exec(body)?.[1]?.replaceAll('&amp;', '&');
      }
      return found;
    };
    const some = runes.filter((_, place) => place % sampleStep(12) === 0);
    for (const { value } of some) {
      for (const list of ['holders', 'activity'] as const) {
        const url = `/rune/${value.id}/${list}`;
        const json = await app.inject({ url: `${url}?limit=1000`, headers: { accept: 'application/json' } });
        const rows = (exactJson(json.body) as Record<typeof list, unknown[]>)[list].length;
        const bodies = await steps(`${url}?limit=4`);
        const shown = bodies.reduce((sum, body) => sum + (body.match(/<th scope="row"/gu) ?? []).length, 0);
        expect([url, shown > 4 ? bodies.length > 1 : true]).toEqual([url, true]);
        // all pages except the first have their usual length
        expect([url, shown]).toEqual([url, rows]);
        seen[list] = Math.max(seen[list], rows);
        const answers = await Promise.all(
          [undefined, '*/*', 'application/json'].map((accept) =>
            app.inject({ url, headers: accept === undefined ? {} : { accept } }),
          ),
        );
        expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
        expect(exactJson(answers[0]!.body)).toHaveProperty(list);
      }
    }
    expect(seen.holders).toBeGreaterThan(4);
    expect(seen.activity).toBeGreaterThan(4);
    const [holders] = await steps(`/rune/${some[0]!.value.id}/holders?at=${tip - 1}`);
    expect(holders).toContain(`after block <a href="/block/${tip - 1}">`);
    expect(holders).toContain('Proven: ');
    const missing = await app.inject({
      url: '/rune/NOBODYETCHEDTHIS/holders',
      headers: { accept: 'text/html' },
    });
    expect([missing.statusCode, missing.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
  });
});
