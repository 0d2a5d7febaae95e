import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import { type MinedChain, minerScript } from './mined-chain.ts';

export interface HoardSize {
  readonly outputs: number;
}

/** An address with very many outputs, the inscriptions of the chain among them. */
export interface Hoard {
  readonly address: string;
  /** Transactions with 1,000s of its outputs, from 0 on. */
  readonly payments: readonly { readonly txid: string; readonly outputs: number }[];
}

/** Some 600 kB each: a few in a block. */
const outputsOfPayment = 20_000;
const satsEach = 546;

/** Makes a number of outputs of the miner, which has the inscriptions too. */
export function makeHoard(chain: MinedChain, { outputs }: HoardSize): Hoard {
  const payments: Hoard['payments'][number][] = [];
  for (let left = outputs; left > 0; left -= outputsOfPayment) {
    const count = Math.min(left, outputsOfPayment);
    const paid = chain.pay(Array.from({ length: count }, () => ({ value: satsEach, script: minerScript })));
    payments.push({ txid: displayHash(paid[0]!.txid), outputs: count });
  }
  return { address: scriptToAddress(minerScript, networks.regtest)!, payments };
}
