import type pg from 'pg';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { asBlockHash, displayHash } from '#kernel/primitives/hash.ts';
import { asSats } from '#kernel/primitives/sats.ts';
import type { BumperParts } from '#orders/bumping/bumper.ts';
import { heldByOutputs, isFree } from '#utxos/held-by-outputs.ts';

/** Coins of which the index proves that they hold neither inscriptions nor runes. */
export function freeCoins(pool: pg.Pool): BumperParts['freeCoins'] {
  return async (coins) => {
    if (coins.length === 0) return [];
    const outputs = coins.map(({ txid, vout, value, script, height, hash }) => ({
      txid,
      vout,
      value: asSats(value),
      script,
      height,
      blockHash: displayHash(asBlockHash(hash)),
      blockTime: 0,
    }));
    const holdings = await withSnapshot(pool, (snapshot) => heldByOutputs(snapshot, outputs), null);
    return coins.filter((_, place) => {
      const held = holdings[place];
      return held !== undefined && isFree(held);
    });
  };
}
