import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import { type MinedChain, minerScript } from './mined-chain.ts';

export interface HoardSize {
  readonly outputs: number;
}

/** An address with very many outputs. The inscriptions of the chain are also at this address. */
export interface Hoard {
  readonly address: string;
  /** Transactions with thousands of the address's outputs. `outputs` is their number, from index 0 on. */
  readonly payments: readonly { readonly txid: string; readonly outputs: number }[];
}

/** Number of outputs of a payment. Such a payment has about 600 kB, so a block contains a few. */
const outputsOfPayment = 20_000;
const satsEach = 546;

/** Makes a number of outputs for the miner, who also has the inscriptions. */
export function makeHoard(chain: MinedChain, { outputs }: HoardSize): Hoard {
  const payments: Hoard['payments'][number][] = [];
  for (let left = outputs; left > 0; left -= outputsOfPayment) {
    const count = Math.min(left, outputsOfPayment);
    const paid = chain.pay(Array.from({ length: count }, () => ({ value: satsEach, script: minerScript })));
    payments.push({ txid: displayHash(paid[0]!.txid), outputs: count });
  }
  return { address: scriptToAddress(minerScript, networks.regtest)!, payments };
}
