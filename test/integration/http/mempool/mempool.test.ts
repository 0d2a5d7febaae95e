import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { displayHash } from '#kernel/primitives/hash.ts';
import { pendingRows, setPending } from '#test/support/chain/rows/pending-rows.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { testTxid, text } from '#test/support/search/search-rows.ts';

let http: HttpApp;

beforeAll(async () => {
  http = await createHttpApp([]);
});
afterAll(() => http.close());

const get = (url: string, headers: Record<string, string> = {}) =>
  http.app.inject({ method: 'GET', url, headers });
const follow = (count: number): Promise<void> =>
  setPending(
    http.database.pool,
    Array.from({ length: count }, (_, at) =>
      pendingRows(testTxid(at), at + 1, { content: text(`pending ${at}`), metadata: null }),
    ),
  );

describe('/mempool', () => {
  test('says that no mempool is followed, and refuses lists with the reason', async () => {
    await http.database.pool.query('DELETE FROM chain.mempool_state');
    expect((await get('/mempool')).json()).toMatchObject({ following: false, state: 'off', revision: null });
    for (const list of ['inscriptions', 'transfers', 'departures']) {
      const answer = await get(`/mempool/${list}`);
      expect(answer.statusCode).toBe(404);
      expect(answer.json()).toMatchObject({
        error: 'pending transactions come from the mempool of a node, but this service has no node',
        code: 'no_node',
      });
    }
    // the start options of the service are not logged as failures
    expect(http.logged.filter(({ level }) => level === 'error' || Number(level) >= 50)).toEqual([]);
    const search = await get('/search?text=pending&pending=1');
    expect(search.json()).toMatchObject({ status: 'ok', totalItems: 0 });
    expect(search.headers['x-mempool-revision']).toBeUndefined();
    await follow(1);
    await http.database.pool.query(
      `UPDATE chain.mempool_state SET state = 'waiting', problem = 'The node is away.'`,
    );
    expect((await get('/mempool')).json()).toMatchObject({ following: false, problem: 'The node is away.' });
    expect((await get('/mempool/inscriptions')).json()).toMatchObject({
      reason: 'the mempool is not followed: The node is away.',
    });
  });

  test('lists every pending inscription once over its pages', async () => {
    await follow(7);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { inscriptions: { id: string }[]; nextCursor: string | null } = (
        await get(`/mempool/inscriptions?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`)
      ).json();
      seen.push(...page.inscriptions.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(seen).toHaveLength(7);
    expect(new Set(seen).size).toBe(7);
  });

  test('lists departures newest first, and has no cursor on the last page, even if it is full', async () => {
    await follow(1);
    await http.database.pool.query(
      `INSERT INTO chain.mempool_departures (position, txid, reason, left_at)
       SELECT k, sha256(k::text::bytea), 'evicted', now() FROM generate_series(1, 6) AS k`,
    );
    interface Page {
      readonly departures: readonly { readonly txid: string }[];
      readonly nextCursor: string | null;
    }
    const page = async (query: string): Promise<Page> => (await get(`/mempool/departures${query}`)).json();
    const whole = await page('');
    expect([whole.departures.length, whole.nextCursor]).toEqual([6, null]);
    const first = await page('?limit=3');
    expect(first.departures).toEqual(whole.departures.slice(0, 3));
    const last = await page(`?limit=3&cursor=${first.nextCursor}`);
    expect(last).toMatchObject({ departures: whole.departures.slice(3), nextCursor: null });
    await http.database.pool.query('DELETE FROM chain.mempool_departures');
  });

  test('entity tags of answers with pending inscriptions change with the mempool, those of others do not', async () => {
    await follow(1);
    const [plain, pending] = ['/search?text=pending', '/search?text=pending&pending=1'];
    const tags = await Promise.all(
      [plain, pending].map(async (url) => String((await get(url)).headers.etag)),
    );
    const codes = () =>
      Promise.all(
        [plain, pending].map(async (url, at) => (await get(url, { 'if-none-match': tags[at]! })).statusCode),
      );
    expect(await codes()).toEqual([304, 304]);
    await follow(2);
    expect(await codes()).toEqual([304, 200]);
    expect((await get(pending)).json()).toMatchObject({ totalItems: 2 });
  });

  test('refuses unknown parameters', async () => {
    await follow(1);
    const wrong = {
      '/mempool/inscriptions?cursor=x': 'the cursor does not belong to this list',
      '/mempool/inscriptions?cursor=1.2.3': 'the cursor does not belong to this list',
      '/mempool/inscriptions?cursor=99999999999999999.0': 'the cursor does not belong to this list',
      '/mempool/transfers?cursor=1.x': 'the cursor does not belong to this list',
      '/mempool/departures?cursor=-1': 'the cursor does not belong to this list',
      '/mempool/transfers?address=bc1qxy2kgdygjrsqtzq2n0yrf2493p83kkfjhx0wlh':
        'the address belongs to another network',
      '/mempool/transfers?inscription=7': 'inscription is not an inscription id',
    };
    for (const [url, error] of Object.entries(wrong)) {
      const answer = await get(url);
      expect([url, answer.statusCode, answer.json()]).toMatchObject([url, 400, { status: 'error', error }]);
    }
    for (const url of [
      '/mempool/inscriptions?limit=0',
      '/mempool/inscriptions?limit=1001',
      '/mempool/transfers?adress=x',
    ])
      expect((await get(url)).statusCode).toBe(400);
  });
});

describe('a pending inscription', () => {
  const browser = { accept: 'text/html' };
  const id = `${displayHash(testTxid(0))}i0`;

  test('has a page and its content at once, and stays unknown to programs', async () => {
    await follow(1);
    const page = await get(`/inscription/${id}`, browser);
    expect([page.statusCode, page.headers['cache-control']]).toEqual([200, 'no-store']);
    for (const words of ['waits in the mempool', '1,000 sats', `href="/tx/${id.slice(0, 64)}"`])
      expect(page.body).toContain(words);
    expect((await get(`/inscription/${id}`, { accept: 'application/json' })).statusCode).toBe(404);
    const content = await get(`/content/${id}`);
    expect([content.statusCode, content.body, content.headers['cache-control']]).toEqual([
      200,
      'pending 0',
      'no-store',
    ]);
    expect(content.headers['content-security-policy']).toContain('sandbox allow-scripts');
    const preview = await get(`/preview/${id}`);
    expect([preview.statusCode, preview.body.includes('pending 0')]).toEqual([200, true]);
  });

  test('has the name and traits of its later page, which cannot change the direction of other text', async () => {
    await follow(1);
    const metadata = { name: 'Frog \u202e<b>', attributes: [{ trait_type: 'Eyes', value: '<i>' }] };
    await http.database.pool.query('UPDATE chain.mempool_inscriptions SET metadata_json = $1', [
      Buffer.from(JSON.stringify(metadata)),
    ]);
    const { body } = await get(`/inscription/${id}`, browser);
    for (const words of [
      '<title>Frog &lt;b&gt; · Waits for a block',
      '<h1 class="wrap"><bdi>Frog \u202e&lt;b&gt;</bdi></h1>',
      '<b><bdi>&lt;i&gt;</bdi></b>',
      '<h2>Metadata</h2>',
      `href="/preview/${id}"`,
    ])
      expect(body).toContain(words);
    const hash = /href="\/\?hash=([0-9a-f]{64})" title/u.exec(body)?.[1];
    expect(body).toContain(`data-copy="${hash}"`);
  });

  test('is on the page of its transaction', async () => {
    await follow(1);
    const page = await get(`/tx/${id.slice(0, 64)}`, browser);
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain(`href="/inscription/${id}"`);
    expect(page.body).toContain('waits in the mempool');
  });

  test('that was replaced is 404 with the replacing transaction', async () => {
    await follow(0);
    await http.database.pool.query(
      `INSERT INTO chain.mempool_departures (position, txid, reason, replaced_by, left_at)
       VALUES (1, $1, 'replaced', $2, now())`,
      [testTxid(0), testTxid(1)],
    );
    const page = await get(`/inscription/${id}`, browser);
    expect(page.statusCode).toBe(404);
    expect(page.body).toContain(`another transaction replaced it: ${displayHash(testTxid(1))}`);
    expect((await get(`/content/${id}`)).statusCode).toBe(404);
    const transaction = await get(`/tx/${id.slice(0, 64)}`, browser);
    expect(transaction.body).toContain(`href="/tx/${displayHash(testTxid(1))}"`);
    await http.database.pool.query('DELETE FROM chain.mempool_departures');
  });
});

describe('the page of the mempool', () => {
  test('shows pending inscriptions, newest first, over its pages', async () => {
    await follow(60);
    const page = (url: string) => get(url, { accept: 'text/html' });
    const first = await page('/mempool');
    expect(first.statusCode).toBe(200);
    expect(first.body).toContain(`href="/inscription/${displayHash(testTxid(59))}i0"`);
    expect(first.body).not.toContain(`href="/inscription/${displayHash(testTxid(0))}i0"`);
    const [, next = ''] = /href="(\/mempool\?before=\d+)"/u.exec(first.body) ?? [];
    const last = await page(next);
    expect(last.body).toContain(`href="/inscription/${displayHash(testTxid(0))}i0"`);
    expect((await get('/mempool', { accept: '*/*' })).json()).toMatchObject({ following: true });
    expect((await page('/mempool?before=x')).statusCode).toBe(400);
  });
});
