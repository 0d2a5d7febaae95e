import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { limits } from '#http/server/limits.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const golden = new GoldenChain('reorg-1');
const [, short] = golden.tips().map(({ tip }) => tip) as [string, string];
let root: string;
let http: HttpApp;
let address: string;
const clients: LiveClient[] = [];

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'satscribe-live-page-'));
  golden.writeFolder(root);
});
beforeEach(async () => {
  http = await createHttpApp([]);
  address = await http.app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await http.close();
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function goTo(until: number): Promise<void> {
  const source = await openFolderSource(root, { tip: short });
  const signal = new AbortController().signal;
  await follow({ source, pool: http.database.pool, signal, threads: parseThreads(), until: asHeight(until) });
}

async function statusOfOneMore(): Promise<number> {
  const client = new LiveClient();
  const { status } = await client.head;
  client.close();
  return status;
}

interface Parts {
  readonly strip: string;
  readonly tip: string;
}

/** A listening page. */
class LiveClient {
  readonly parts: Parts[] = [];
  text = '';
  readonly head: Promise<Response>;
  readonly #controller = new AbortController();

  constructor(headers: Record<string, string> = {}) {
    clients.push(this);
    this.head = fetch(`${address}/live`, { headers, signal: this.#controller.signal });
    void this.#read().catch(() => undefined);
  }

  get lastId(): string {
    return /^id: (?<id>.*)$/gmu.exec(this.text)?.groups?.['id'] ?? '';
  }

  close(): void {
    this.#controller.abort();
  }

  async #read(): Promise<void> {
    const { body } = await this.head;
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      this.text += chunk;
      this.parts.splice(0);
      for (const [, data = ''] of this.text.matchAll(/^data: (.*)$/gmu))
        this.parts.push(JSON.parse(data) as Parts);
    }
  }
}

test('a page gets the present state at once, and one check reports each new block to all pages', async () => {
  const pages = [new LiveClient(), new LiveClient(), new LiveClient()];
  for (const { head } of pages) {
    const { status, headers } = await head;
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(headers.get('x-accel-buffering')).toBe('no');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-encoding')).toBeNull();
  }
  await waitUntil(() => pages.every(({ parts }) => parts.length === 1));
  expect(pages[0]!.parts[0]!.strip).toContain('no block is indexed yet');
  expect(pages[0]!.parts[0]!.tip).toContain('nothing indexed yet');
  await goTo(3);
  await waitUntil(() => pages.every(({ parts }) => parts.at(-1)!.tip.includes('block 3')));
  expect(new Set(pages.map(({ parts }) => JSON.stringify(parts.at(-1)))).size).toBe(1);
  expect(pages[0]!.parts.at(-1)!.strip).toContain('href="/block/3"');
});

test('a page that reconnects only receives missing parts', async () => {
  const first = new LiveClient();
  await waitUntil(() => first.parts.length === 1);
  const again = new LiveClient({ 'last-event-id': first.lastId });
  const other = new LiveClient({ 'last-event-id': 'x'.repeat(1000) });
  await waitUntil(() => other.parts.length === 1);
  expect(again.text).toMatch(/^retry: \d+\n\n$/u);
  await goTo(4);
  await waitUntil(() => again.parts.at(-1)?.tip.includes('block 4') === true);
});

test('one address has a limited number of pages, and a closed page frees its place', async () => {
  const pages = Array.from({ length: limits.liveStreamsEach }, () => new LiveClient());
  await Promise.all(pages.map(({ head }) => head));
  expect(await statusOfOneMore()).toBe(429);
  pages[0]!.close();
  await waitUntil(async () => (await statusOfOneMore()) === 200);
});

test('HEAD is answered without a stream', async () => {
  const answer = await fetch(`${address}/live`, { method: 'HEAD' });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
});
