import type pg from 'pg';
import { putInventoryOutputs } from '#inventory/inventory.store.ts';
import { displayHash, parseBlockHash, parseTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { asSats } from '#kernel/primitives/sats.ts';
import { unpackRanges } from '#kernel/sats/packed-ranges.ts';
import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { transaction } from '#test/builders/regtest/regtest-transaction.ts';

/** Orders of a run that can have one. */
const outputsMax = 60;
const outputSats = 10_000;
const blockSats = 5_000_000_000;

/** Brings outputs of an early coinbase into the inventory: their sats follow one another. */
export async function fillStock(pool: pg.Pool, chain: RegtestChain, script: Uint8Array): Promise<void> {
  const coin = await chain.coin();
  const { confirmations } = await chain.rpc.call<{ confirmations: number }>('gettxout', [
    coin.txid,
    coin.vout,
  ]);
  const first = ((await chain.height()) - confirmations + 1) * blockSats;
  const stocked = Array.from({ length: outputsMax }, () => ({ value: outputSats, outputScript: script }));
  const rest = coin.value - outputsMax * outputSats - 100_000;
  const made = transaction([coin], [...stocked, { value: rest, to: coin.owner }]);
  const { hash, height } = await chain.mine([made]);
  await putInventoryOutputs(
    pool,
    Array.from({ length: outputsMax }, (_, vout) => {
      const start = first + vout * outputSats;
      return {
        txid: parseTxid(made.txid)!,
        vout,
        value: asSats(outputSats),
        script,
        height: asHeight(height),
        blockHash: displayHash(parseBlockHash(hash)!),
        ranges: [{ start, end: start + outputSats }],
      };
    }),
  );
}

/** Outputs of the inventory that are unspent, and hold other sats than their rows say. */
export async function strayStock(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ txid: Buffer; vout: number; listed: string[]; packed: Buffer }>(
    `SELECT i.txid, i.vout, i.ranges::text[] AS listed, r.ranges AS packed
       FROM service.inventory_outputs AS i JOIN chain.sat_ranges AS r ON r.txid = i.txid AND r.vout = i.vout`,
  );
  return rows.flatMap(({ txid, vout, listed, packed }) => {
    const held = unpackRanges(packed)
      .flatMap(({ start, end }) => [start, end])
      .join();
    return held === listed.join()
      ? []
      : [
          `${Buffer.from(txid).reverse().toString('hex')}:${vout} of the inventory holds ${held}, not ${listed.join()}`,
        ];
  });
}
