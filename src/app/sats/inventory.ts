import type pg from 'pg';
import { Inventory, type InventoryParts, requireOwn } from '#inventory/inventory.ts';
import { defaultBaseFees, parseBaseFees } from '#inventory/inventory-types.ts';
import { ownScriptsOf } from '#inventory/own-scripts.ts';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import { type Asker, ownAsker } from '#kernel/contracts/asker.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { createPool } from '#kernel/pg/pool.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { networkOf, openDatabase } from '#src/app/database/database.ts';
import { linkedNode } from '#src/app/sources/node.ts';
import type { Owner } from '#utxos/utxo.ts';
import { inventoryAddresses } from '#wallet/branches.ts';
import { openPublicWallet, requirePublicWallet } from '#wallet/public-wallet.ts';
import { openSatTracer } from './sat-tracer.ts';
import { openSatributes } from './satributes.ts';
import { openUtxos } from './utxos.ts';

export type InventoryAction = 'add' | 'list' | 'scan' | 'remove';

/**
 * Returns the addresses of the wallet's inventory branch, in the order of their indices. Empty if the database has no
 * wallet.
 */
export async function inventoryOwners(db: pg.Pool): Promise<readonly Owner[]> {
  const wallet = await openPublicWallet(db);
  if (wallet === null) return [];
  const owners: Owner[] = [];
  while (owners.length < inventoryAddresses) {
    // let other work run, because each address takes some milliseconds
    await nextTurn();
    const { script, address } = wallet.inventoryAddress(owners.length);
    owners.push({ script, address });
  }
  return owners;
}

/** Returns the address for outputs that orders may use. Throws `wallet_missing`. */
export async function inventoryAddress(context: CommandContext, index: number): Promise<string> {
  const { readers } = await openDatabase(context, 'existing');
  const wallet = await requirePublicWallet(readers);
  return wallet.inventoryAddress(index).address;
}

/** Opens the inventory that the settings describe. */
export function openInventory(
  { config }: CommandContext,
  parts: Omit<InventoryParts, 'descriptor' | 'addresses' | 'fees'>,
): Inventory {
  const { inventoryDescriptor: descriptor, inventoryBaseFees } = config;
  const fees = inventoryBaseFees === undefined ? null : parseBaseFees(inventoryBaseFees);
  const addresses = (): Promise<readonly Owner[]> => inventoryOwners(parts.pool);
  return new Inventory({ ...parts, descriptor, addresses, fees: fees ?? defaultBaseFees });
}

/**
 * Checks INVENTORY_DESCRIPTOR at the start, so that the fault is not found only at the first request for the inventory.
 * Throws `inventory_descriptor_invalid` if the node derives no addresses from it.
 */
export async function checkDescriptor(
  { config: { inventoryDescriptor } }: CommandContext,
  node: NodeRpc,
  network: NetworkName,
): Promise<void> {
  if (inventoryDescriptor === undefined) return;
  try {
    await ownScriptsOf(node, inventoryDescriptor, network);
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'inventory_descriptor_invalid') throw error;
    // if the node disappeared again, the descriptor is checked at its first use
  }
}

/**
 * Runs work on the inventory of the database, with the node of the settings. A service may run at the same time. Throws
 * `nothing_indexed`. Throws `node_unreachable` at once, because a command does not wait for a node, except for a node
 * that is starting.
 *
 * @param action an action that reads the operator's outputs throws `inventory_descriptor_missing` before it does
 *   anything else; an action that only forgets an output, or that cannot know which outputs are the operator's, does
 *   not use the node
 */
export async function withInventory(
  context: CommandContext,
  action: InventoryAction,
  work: (inventory: Inventory, asker: Asker) => Promise<void>,
): Promise<void> {
  const { config, lifecycle, logger } = context;
  const { inventoryDescriptor: descriptor } = config;
  const database = await openDatabase(context, 'existing');
  const network = await networkOf(database);
  if (network === null)
    throw new AppError('nothing_indexed', 'There is nothing to examine, because no block is indexed.');
  const isOwned = descriptor !== undefined || (await openPublicWallet(database.readers)) !== null;
  if (action === 'add' || action === 'scan') requireOwn(isOwned);
  const asksNode = action !== 'remove' && isOwned;
  const link = asksNode ? await linkedNode(context, network) : null;
  const pool = createPool(database.url, {
    applicationName: 'satscribe inventory',
    max: 1,
    onError: (error) => logger.warn({ err: error }, 'an idle connection was lost'),
  });
  lifecycle.add('inventory connection', () => pool.end());
  const { readers } = database;
  const node = link?.rpc ?? null;
  const tracer = link === null ? null : openSatTracer(readers, link.rpc, link.blocks(network));
  const utxos = openUtxos(context, { pool: readers, network, node, tracer });
  const satributes = await openSatributes(context, database, network);
  const inventory = openInventory(context, { pool, network, satributes, node, utxos });
  await lifecycle.run('inventory', (signal) => work(inventory, ownAsker('inventory', signal)));
}
