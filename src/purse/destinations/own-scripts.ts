import type pg from 'pg';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import { watchedApartFrom } from '#payments/payments.queries.ts';
import { inventoryAddresses } from '#wallet/branches.ts';
import { PublicWallet } from '#wallet/public-wallet.ts';
import { readWallet } from '#wallet/wallet.store.ts';
import type { WalletIdentity } from '#wallet/wallet-identity.ts';

/**
 * Prefix of the names of watchers whose scripts do not belong to the service. Such scripts receive refunds and parents.
 */
export const refundWatchers = 'refund ';

/** The watcher of the payment address of an inscription order. */
export const orderWatcher = (orderId: string): string => `order ${orderId}`;

/**
 * Selects the scripts that belong to the service. They are addresses of orders (including those with leaves), of
 * deposits and of funds, the service's own outputs of transactions, and the inventory. Money that is sent to such a
 * script would pay for something else, or only move in a circle. Wallet addresses that were never shown are not
 * checked. Only the operator can know them, and commands of the wallet compare them.
 *
 * @param known the wallet of the database, if the caller has it. Null: the wallet is read.
 */
export async function ownScriptsAmong(
  client: pg.Pool | pg.ClientBase,
  scripts: readonly Uint8Array[],
  known: WalletIdentity | null = null,
): Promise<readonly Uint8Array[]> {
  if (scripts.length === 0) return [];
  const watched = new Set((await watchedApartFrom(client, scripts, refundWatchers)).map(hexOf));
  const wallet = known ?? (await readWallet(client));
  const inventory = wallet === null ? noScripts : await inventoryScripts(wallet);
  return scripts.filter((script) => watched.has(hexOf(script)) || inventory.has(hexOf(script)));
}

const noScripts: ReadonlySet<string> = new Set();
/** Inventory scripts, by account of the wallet. A process normally has only one account. */
const inventories = new Map<string, Promise<ReadonlySet<string>>>();

/**
 * The scripts of the inventory branch, in hex. They are derived once per process, because this takes a tenth of a
 * second.
 */
function inventoryScripts(identity: WalletIdentity): Promise<ReadonlySet<string>> {
  const name = `${identity.network} ${identity.accountXpub}`;
  const known = inventories.get(name) ?? deriveInventory(new PublicWallet(identity));
  inventories.set(name, known);
  return known;
}

async function deriveInventory(wallet: PublicWallet): Promise<ReadonlySet<string>> {
  const scripts = new Set<string>();
  for (let index = 0; index < inventoryAddresses; index++) {
    scripts.add(hexOf(wallet.inventoryAddress(index).script));
    await nextTurn();
  }
  return scripts;
}

const hexOf = (script: Uint8Array): string => Buffer.from(script).toString('hex');
