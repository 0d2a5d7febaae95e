import { join } from 'node:path';
import type { PersonCheck } from '#orders/collections/turnstile.ts';
import { orderKeys } from '#orders/creating/order-keys.ts';
import { CustomerOrders } from '#orders/customers/customer-orders.ts';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import type { Miner } from '#orders/mining/miner.ts';
import { defaultPriceSettings } from '#orders/pricing/prices.ts';
import { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import { makeDataDir } from '#test/support/data-dir.ts';
import { type TestAccess, testAccess } from '#test/support/http/search-access.ts';
import { createHttpApp, type HttpApp, type HttpAppOptions } from '#test/support/http-app.ts';
import { IndexLeases } from '#wallet/indices/index-leases.ts';
import { PublicWallet } from '#wallet/public-wallet.ts';
import { makeTestWallet, releaseTestWallet } from './test-wallet.ts';

/** A response of the app. */
export interface OrdersAnswer<Body> {
  readonly status: number;
  readonly body: Body;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** The app with which customers create orders. Without a node, nothing processes the orders. */
export interface OrdersApp extends HttpApp {
  /** Folder of the orders' contents. */
  readonly filesDir: string;
  /** Its seed file, with the mark beside it. */
  readonly seedFile: string;
  post<Body = Record<string, never>>(
    url: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<OrdersAnswer<Body>>;
  get<Body = Record<string, never>>(url: string): Promise<OrdersAnswer<Body>>;
  /** Stops the release of addresses by a process with the seed. */
  endReleases(): Promise<void>;
}

/**
 * @param bytesADay maximum number of bytes that a client may store in a day; `null` if there is no limit
 * @param miner the miner that accepts reveals above the standard weight; `null` if there is none
 * @param prices added to the usual prices, or replacing them, and prices of coins in dollars; default: none
 * @param persons checks tokens of orders of collections; `null` for no check
 */
export async function createOrdersApp(
  bytesADay: number | null = null,
  miner: Miner | null = null,
  prices: Partial<NonNullable<HttpAppOptions['prices']>> = {},
  persons: PersonCheck | null = null,
): Promise<OrdersApp> {
  const folder = await makeDataDir();
  const filesDir = join(folder.path, 'files');
  const seedFile = join(folder.path, 'seed');
  let access: TestAccess | null = null;
  let endReleases = async (): Promise<void> => undefined;
  const http = await createHttpApp([], {
    prices: { prices: { ...defaultPriceSettings, nonStandard: miner !== null }, ...prices },
    access: ({ pool }) => (access = testAccess(pool, { mode: 'open' })).access,
    orders: async ({ pool, accessPool, url }) => {
      // orders are accepted only after a block is indexed
      await pool.query(
        `INSERT INTO chain.state (network, fingerprint_key, tip_height, tip_hash, text_rules, cbor_rules)
         VALUES ('regtest', $1, 0, $1, 1, 1)
         ON CONFLICT (one) DO UPDATE SET tip_height = 0, tip_hash = excluded.tip_hash`,
        [Buffer.alloc(32)],
      );
      const wallet = new PublicWallet(await makeTestWallet(pool, seedFile));
      endReleases = await releaseTestWallet(url, seedFile, wallet.identity);
      const keys = orderKeys(wallet, new IndexLeases(accessPool));
      return new CustomerOrders({
        pool: accessPool,
        keys: async () => keys,
        files: new CustomerFiles(filesDir),
        isSignerThere: async () => true,
        reservedMost: 3,
        holdBounds: { client: 10, network: 50 },
        persons,
        outgoing: new OutgoingHttp({ allowPrivate: true }),
        miner,
        allowPrivateUrls: false,
        timeoutMinutes: 60,
        publicOrigin: null,
        bytesADay,
        uploadBytesADay: 20_000_000,
      });
    },
  });
  return {
    ...http,
    filesDir,
    seedFile,
    endReleases: () => endReleases(),
    post: async (url, body, headers = {}) => {
      const payload = JSON.stringify(body);
      const answer = await http.app.inject({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json', ...headers },
        payload,
      });
      return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
    },
    get: async (url) => {
      const answer = await http.app.inject({ url });
      return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
    },
    close: async () => {
      await access?.close();
      await endReleases();
      await http.close();
      await folder.remove();
    },
  };
}
