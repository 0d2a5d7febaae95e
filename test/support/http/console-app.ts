import type { LightMyRequestResponse } from 'fastify';
import { insertAccount, insertKey, revokeKeys } from '#accounts/account.store.ts';
import { newApiKey, type Scope } from '#accounts/api-key.ts';
import { KeyLookUps } from '#accounts/key-look-ups.ts';
import { lease } from '#accounts/lease.store.ts';
import { RateLimiter } from '#accounts/rate-limiter.ts';
import { OperatorConsole, type OperatorConsoleParts } from '#console/operator-console.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { usualTerms } from '#kernel/contracts/asking-key.ts';
import { networks } from '#kernel/primitives/network.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createSearchService } from '#search/service/search-service.ts';
import { makeDataDir } from '#test/support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { silentLogger } from '#test/support/http-app.ts';
import { buildCheckedApp } from './checked-app.ts';
import { consoleParts } from './console-parts.ts';
import { testOperations } from './operations.ts';

const origin = 'http://localhost';

/** A console over HTTP, with operators that have keys. */
export class ConsoleApp {
  readonly app: App;
  readonly database: TestDatabase;
  readonly #end: () => Promise<void>;
  #forms = 0;

  private constructor(app: App, database: TestDatabase, end: () => Promise<void>) {
    this.app = app;
    this.database = database;
    this.#end = end;
  }

  /**
   * @param given a database with rows, which stays open; absent: an empty database of its own
   * @param changed parts other than those of `consoleParts`
   */
  static async start(given?: TestDatabase, changed: Partial<OperatorConsoleParts> = {}): Promise<ConsoleApp> {
    const database = given ?? (await createTestDatabase());
    const folder = await makeDataDir();
    const { pool, readers } = database;
    const limiter = new RateLimiter({ lease: (asks) => lease(pool, asks) });
    const engine = createPostgresEngine();
    const parts = { ...consoleParts(database, folder.path), keys: new KeyLookUps(pool, 0), limiter };
    const operatorConsole = new OperatorConsole({ ...parts, ...changed });
    const app = buildCheckedApp({
      pool: readers,
      search: createSearchService({ pool: readers, engine }),
      network: networks.regtest,
      logger: silentLogger(),
      operations: testOperations(readers),
      console: operatorConsole,
    });
    await app.ready();
    return new ConsoleApp(app, database, async () => {
      app.server.closeAllConnections();
      await app.close();
      await operatorConsole.auditEnded();
      await parts.approval.outgoing.close();
      await limiter.close();
      await engine.close();
      await folder.remove();
      if (given === undefined) await database.drop();
    });
  }

  /** Makes a key of an account, and the account if it is new. */
  async newKey(account: string, scopes: readonly Scope[] = ['admin']): Promise<string> {
    const made = newApiKey();
    const { pool } = this.database;
    await insertAccount(pool, account).catch(() => undefined);
    await insertKey(pool, made, { account, scopes, rate: null, terms: usualTerms });
    return made.key;
  }

  async revoke(account: string): Promise<void> {
    await revokeKeys(this.database.pool, { account, scopes: [], key: null });
  }

  /**
   * Sends a form as a browser sends it from a page of the console. Headers of null are left out.
   *
   * @param remoteAddress absent: another one for each form, so that no limit by address counts
   */
  form(
    url: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string | null>> = {},
    remoteAddress = `10.0.${(this.#forms += 1) >> 8}.${this.#forms & 0xff}`,
  ): Promise<LightMyRequestResponse> {
    const sent = Object.entries({ origin, 'sec-fetch-site': 'same-origin', ...headers });
    return this.app.inject({
      method: 'POST',
      url,
      remoteAddress,
      payload: new URLSearchParams(fields).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'text/html',
        ...Object.fromEntries(sent.filter(([, value]) => value !== null)),
      },
    });
  }

  /** Signs in as a browser does. */
  async signIn(key: string): Promise<Operator> {
    const answer = await this.form('/console/sign-in', { key });
    if (answer.statusCode !== 303) throw new Error(`refused: ${answer.statusCode} ${answer.body}`);
    return new Operator(this, key, String(answer.headers['set-cookie']).split(';', 1)[0] ?? '');
  }

  close(): Promise<void> {
    return this.#end();
  }
}

/** The text of an attribute, as a browser reads it. */
const textOf = (value: string): string =>
  value
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** A browser with a session. */
export class Operator {
  readonly key: string;
  readonly cookie: string;
  readonly #app: ConsoleApp;

  constructor(app: ConsoleApp, key: string, cookie: string) {
    this.#app = app;
    this.key = key;
    this.cookie = cookie;
  }

  get(url: string): Promise<LightMyRequestResponse> {
    return this.#app.app.inject({ url, headers: { cookie: this.cookie, accept: 'text/html' } });
  }

  /** The token that forms of this session contain. */
  async token(): Promise<string> {
    const { body } = await this.get('/console');
    return /name="token" value="(?<token>[^"]+)"/u.exec(body)?.groups?.['token'] ?? '';
  }

  /** The hidden values of the confirmation of an action. */
  async confirmation(
    name: string,
    fields: Readonly<Record<string, string>>,
  ): Promise<Record<string, string>> {
    const { body } = await this.get(
      `/console/actions/${name}?${new URLSearchParams({ asked: 'yes', ...fields }).toString()}`,
    );
    const [form] = /<form class="asking"[^>]*method="post">.*?<\/form>/su.exec(body) ?? [];
    if (form === undefined) throw new Error(`no confirmation: ${body.replace(/.*<main/su, '')}`);
    const hidden = form.matchAll(/type="hidden" name="(?<name>[^"]+)" value="(?<value>[^"]*)"/gu);
    return Object.fromEntries(
      [...hidden].map(({ groups = {} }) => [groups['name'] ?? '', textOf(groups['value'] ?? '')]),
    );
  }

  /** Confirms an action with a key, as it was shown. */
  async confirm(
    name: string,
    seen: Readonly<Record<string, string>>,
    key = this.key,
  ): Promise<LightMyRequestResponse> {
    return this.#app.form(`/console/actions/${name}`, { ...seen, key }, { cookie: this.cookie });
  }

  async form(
    url: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string | null>> = {},
  ): Promise<LightMyRequestResponse> {
    return this.#app.form(url, { token: await this.token(), ...fields }, { cookie: this.cookie, ...headers });
  }
}
