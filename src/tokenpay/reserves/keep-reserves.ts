import type pg from 'pg';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { workUnderLock } from '#kernel/pg/work-under-lock.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { pause } from '#kernel/retry.ts';
import type { WebhookKeys } from '#webhooks/webhook-keys.ts';
import { type BuiltReserves, buildReserves, pageOutputs, proofMessage } from './build-reserves.ts';
import { readReserveFacts } from './read-facts.ts';
import { lastReservesBlock, type PublishedReserves, publishReserves } from './reserves.store.ts';

/** The part of the wallet that proofs need. */
export interface ReservesWallet {
  readonly network: NetworkName;
  /** Signs a message in the "simple" form of BIP 322. The result is in base64. */
  readonly prove: (key: WalletKey, message: string) => string;
}

export interface KeepReservesOptions {
  /** The database, as the role that owns its tables. */
  readonly url: string;
  /** Opens the wallet. Returns null if there is no wallet yet. */
  readonly wallet: (client: pg.ClientBase) => Promise<ReservesWallet | null>;
  readonly keys: () => Promise<WebhookKeys>;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/**
 * How often the loop checks for a new block, in ms. A block may come at any time, and no one waits for its document.
 */
const lookMs = 1_000;
/**
 * Length of the loop's pause, as a multiple of the time that its work took. 10,000 addresses need 1.5 minutes of a
 * core, so the loop uses only a twentieth of the core.
 */
const restsFor = 20;

/**
 * Publishes a proof of reserves for each block until the signal is aborted. If there are many addresses, only some
 * blocks get a proof. Only one process per database does this.
 */
export async function keepReserves(options: KeepReservesOptions): Promise<void> {
  const { url, signal, log } = options;
  await workUnderLock(
    {
      url,
      applicationName: 'satscribe reserves',
      lock: 'tokenReserves',
      what: 'proofs of reserves',
      signal,
      log,
    },
    async (client) => {
      while (!signal.aborted) {
        const began = performance.now();
        const made = await makeReserves(client, options);
        if (made !== null)
          log.debug(
            { height: made.block.height, outputs: made.outputs, ms: Math.round(performance.now() - began) },
            'reserves were proven',
          );
        await pause(Math.max(lookMs, made === null ? 0 : (performance.now() - began) * restsFor), signal);
      }
    },
  );
}

/**
 * Builds and publishes the document of the last block. Returns null if no document is due, or if the signal was
 * aborted.
 */
export async function makeReserves(
  client: pg.ClientBase,
  { wallet: open, keys: openKeys, signal }: Pick<KeepReservesOptions, 'wallet' | 'keys' | 'signal'>,
): Promise<{ readonly block: PublishedReserves['block']; readonly outputs: number } | null> {
  const facts = await readReserveFacts(client, await lastReservesBlock(client));
  if (facts === null) return null;
  const wallet = await open(client);
  if (wallet === null) return null;
  const keys = await openKeys();
  const madeAt = new Date();
  const built = await buildReserves(facts, wallet.network, madeAt);
  const { block } = facts;
  const blockHash = displayHash(block.hash);
  const hash = built.hash.toString('hex');
  const message = proofMessage(blockHash, hash);
  const pages = await provenPages(built, hash, (key) => wallet.prove(key, message), message, signal);
  if (signal.aborted) return null;
  const id = `reserves_${blockHash}`;
  const timestamp = Math.floor(madeAt.getTime() / 1_000);
  const signatures = keys.signatures({ id, timestamp, body: Buffer.from(built.document) }, null);
  const published: PublishedReserves = {
    hash: built.hash,
    block,
    madeAt,
    document: built.document,
    signed: { id, timestamp, signatures },
    pages,
    accounts: built.accounts.map(({ account, liabilities, debts }) => ({
      account,
      body: JSON.stringify({ document: hash, account, liabilities, debts }),
    })),
  };
  await withTransaction(client, (tx) => publishReserves(tx, published));
  return { block, outputs: built.outputs.length };
}

/** Makes the pages of outputs with proofs. Each address is proven once, in a separate turn of the event loop. */
async function provenPages(
  { outputs }: BuiltReserves,
  document: string,
  prove: (key: WalletKey) => string,
  message: string,
  signal: AbortSignal,
): Promise<string[]> {
  const proofs = new Map<string, string>();
  const pages: string[] = [];
  for (let from = 0; from < outputs.length; from += pageOutputs) {
    const shown: object[] = [];
    for (const { held, shown: output } of outputs.slice(from, from + pageOutputs)) {
      if (!proofs.has(held.address)) {
        await nextTurn();
        if (signal.aborted) return [];
        proofs.set(held.address, prove(held.key));
      }
      shown.push({ ...output, proof: proofs.get(held.address) });
    }
    pages.push(JSON.stringify({ document, message, page: pages.length + 1, outputs: shown }));
  }
  return pages;
}
