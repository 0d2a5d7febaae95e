import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import type { Owner } from '#utxos/utxo.ts';

/**
 * Maximum number of addresses of a ranged descriptor that are treated as the operator's addresses. Wallets give out far
 * fewer unused addresses.
 */
export const ownAddressesMax = 1_000;

/** Scripts of the operator's own outputs. */
export interface OwnScripts {
  readonly owners: readonly Owner[];
  has(script: Uint8Array): boolean;
}

const hex = (script: Uint8Array): string => Buffer.from(script).toString('hex');

/**
 * The scripts of a descriptor, derived by the node. Throws `inventory_descriptor_invalid`, also for a descriptor with
 * private keys, because private keys must not be on this server.
 */
export async function ownScriptsOf(
  node: NodeRpc,
  descriptor: string,
  network: NetworkName,
): Promise<OwnScripts> {
  const { checksum, isrange, hasprivatekeys } = await ask<{
    readonly checksum: string;
    readonly isrange: boolean;
    readonly hasprivatekeys: boolean;
  }>(node, 'getdescriptorinfo', [descriptor]);
  if (hasprivatekeys) throw invalid('it has private keys; use the descriptor with public keys');
  const checked = descriptor.includes('#') ? descriptor : `${descriptor}#${checksum}`;
  const range = isrange ? [[0, ownAddressesMax - 1]] : [];
  // for a descriptor with several paths, the node returns one list of addresses per path
  const derived = await ask<readonly (string | readonly string[])[]>(node, 'deriveaddresses', [
    checked,
    ...range,
  ]);
  const owners = derived.flat().flatMap((address): Owner[] => {
    const parsed = parseAddress(address, networks[network]);
    return parsed.kind === 'script' ? [{ script: parsed.script, address }] : [];
  });
  return scriptsOf(owners);
}

export function scriptsOf(owners: readonly Owner[]): OwnScripts {
  const scripts = new Set(owners.map(({ script }) => hex(script)));
  return { owners, has: (script) => scripts.has(hex(script)) };
}

async function ask<Result>(node: NodeRpc, method: string, parameters: readonly unknown[]): Promise<Result> {
  try {
    return await node.call<Result>(method, parameters);
  } catch (error) {
    if (error instanceof AppError && error.code === 'node_call_failed')
      throw invalid('the node does not understand it, or derives no addresses from it');
    throw error;
  }
}

// the message must not contain the descriptor, because a descriptor shows all addresses of a wallet; the node's message
// may contain the descriptor
const invalid = (why: string): AppError =>
  new AppError('inventory_descriptor_invalid', `INVENTORY_DESCRIPTOR: ${why}.`);
