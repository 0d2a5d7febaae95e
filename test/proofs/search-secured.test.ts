import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { createElasticEngine } from '#search/elastic/elastic-engine.ts';
import { createElasticClient, type ElasticSettings } from '#search/elastic/server/elastic-client.ts';
import { readDatabaseIdentity } from '#search/sync/outbox.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import {
  type Elasticsearch,
  hasElasticsearch,
  startElasticsearch,
} from '#test/support/elasticsearch/elasticsearch.ts';
import { certificateOf, restrictedAccount } from '#test/support/elasticsearch/elasticsearch-security.ts';
import { caughtUp, startSync } from '#test/support/elasticsearch/running-sync.ts';
import { createSyncedIndex, type SyncedIndex } from '#test/support/elasticsearch/synced-index.ts';
import { createSearchRows, type SearchRows, text } from '#test/support/search/search-rows.ts';

const timeout = 400_000;

describe.runIf(hasElasticsearch())('an Elasticsearch that requires authentication', { timeout }, () => {
  let database: TestDatabase;
  let rows: SearchRows;
  let server: Elasticsearch;
  let index: SyncedIndex;
  let folder: string;
  let settings: ElasticSettings;
  /** Reports of the sync that filled the index. */
  let problems: readonly string[];

  beforeAll(async () => {
    database = await createTestDatabase();
    rows = await createSearchRows(database.pool);
    server = await startElasticsearch({ isSecured: true });
    folder = await mkdtemp(join(tmpdir(), 'satscribe-secured-'));
    settings = { url: server.url, caFile: join(folder, 'ca.pem'), ...restrictedAccount };
    await copyFile(certificateOf(server.dataDir), join(folder, 'ca.pem'));
    index = createSyncedIndex(database.pool, database.url, rows, settings);
    for (let height = 0; height < 4; height++) {
      await rows.addBlock(
        Array.from({ length: 30 }, (_, at) => ({
          content: text(`text ${(at * 7 + height) % 20}`),
          metadata: null,
        })),
      );
    }
    const sync = startSync({ databaseUrl: database.url, elastic: index.elastic, prefix: index.prefix });
    await caughtUp(database.pool, index);
    await sync.stop();
    problems = sync.problems;
  });
  afterAll(async () => {
    await index?.close();
    await server?.remove();
    await rm(folder, { recursive: true, force: true });
    await database?.drop();
  });

  const codeOf = async (given: ElasticSettings): Promise<string> => {
    const client = createElasticClient(given);
    const asked = client.request({ method: 'GET', path: `/${index.alias}/_doc/marker` });
    const code = await asked.then(
      () => 'answered',
      (error: unknown) => (error as { code?: string }).code ?? String(error),
    );
    await client.close();
    return code;
  };

  test('is filled and used by an account with only the rights in the documents', async () => {
    expect(problems.filter((code) => code !== 'none')).toEqual([]);
    await index.expectWhole();
    const named = new URL(server.url);
    named.username = restrictedAccount.user;
    named.password = restrictedAccount.password;
    expect(await codeOf({ url: named.href, caFile: settings.caFile })).toBe('answered');
  });

  // the test server cannot store API keys, so a proxy in front of the server checks them
  test('answers clients with an API key, until it is revoked', async () => {
    const apiKey = Buffer.from('id:secret').toString('base64');
    const door = await openKeyDoor(server, `ApiKey ${apiKey}`);
    const client = createElasticClient({ url: door.url, caFile: settings.caFile, apiKey });
    const engine = createElasticEngine({ client, alias: index.alias, readDatabase: readDatabaseIdentity });
    const ask = (): Promise<number> =>
      withSnapshot(
        database.pool,
        async (snapshot) => {
          const query = { corpus: 'content', needles: ['text'], page: 1, itemsPerPage: 1 } as const;
          return (await engine.searchText(snapshot, query)).totalItems;
        },
        null,
      );
    expect(await ask()).toBe(120);
    expect(await codeOf({ url: door.url, caFile: settings.caFile, apiKey: 'b3RoZXI6a2V5' })).toBe(
      'search_engine_refused',
    );
    door.accepted = 'unknown';
    await expect(ask()).rejects.toMatchObject({ code: 'search_engine_refused' });
    await client.close();
    await door.close();
  });

  test('refuses a wrong password, a wrong key and an unknown user; an untrusted certificate is refused', async () => {
    expect(await codeOf({ ...settings, password: 'another' })).toBe('search_engine_refused');
    expect(await codeOf({ ...settings, apiKey: 'bm9ib2R5OnNlY3JldA==' })).toBe('search_engine_refused');
    expect(await codeOf({ url: server.url, caFile: settings.caFile })).toBe('search_engine_refused');
    expect(await codeOf({ url: server.url, ...restrictedAccount })).toBe('search_engine_tls');
  });
});

interface KeyDoor {
  readonly url: string;
  /** The accepted value of `Authorization`. */
  accepted: string;
  close(): Promise<void>;
}

/**
 * Opens a proxy that speaks TLS with the server's certificate. It forwards requests that have the accepted key, with
 * the password of the account.
 */
async function openKeyDoor({ url, dataDir }: Elasticsearch, accepted: string): Promise<KeyDoor> {
  const read = (name: string): Buffer => readFileSync(join(dataDir, 'config', name));
  const { user, password } = restrictedAccount;
  const refusal = { error: { type: 'security_exception', reason: 'unable to authenticate' }, status: 401 };
  const door = createServer({ cert: read('http.crt'), key: read('http.key') }, (asked, answer) => {
    if (asked.headers.authorization !== state.accepted) {
      answer.writeHead(401, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' });
      answer.end(JSON.stringify(refusal));
      return;
    }
    const { authorization: _, host: __, ...headers } = asked.headers;
    const passed = request(
      `${url}${asked.url ?? '/'}`,
      { method: asked.method, headers, auth: `${user}:${password}`, ca: read('http.crt') },
      (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(answer);
      },
    );
    passed.on('error', () => answer.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', () => resolve()));
  const { port } = door.address() as AddressInfo;
  const state: KeyDoor = {
    url: `https://127.0.0.1:${port}`,
    accepted,
    close: async () => {
      door.closeAllConnections();
      await new Promise((resolve) => door.close(resolve));
    },
  };
  return state;
}
