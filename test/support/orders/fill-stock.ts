import type pg from 'pg';
import { putInventoryOutputs } from '#inventory/inventory.store.ts';
import { displayHash, parseBlockHash, parseTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { asSats } from '#kernel/primitives/sats.ts';
import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { transaction } from '#test/builders/regtest/regtest-transaction.ts';

const outputSats = 10_000;
const blockSats = 5_000_000_000;

/** Puts outputs of an early coinbase into the inventory. Their sats are vintage and consecutive. */
export async function fillStock(
  pool: pg.Pool,
  chain: RegtestChain,
  script: Uint8Array,
  count: number,
): Promise<void> {
  const coin = await chain.coin();
  const { confirmations } = await chain.rpc.call<{ confirmations: number }>('gettxout', [
    coin.txid,
    coin.vout,
  ]);
  const first = ((await chain.height()) - confirmations + 1) * blockSats;
  const stocked = Array.from({ length: count }, () => ({ value: outputSats, outputScript: script }));
  const rest = coin.value - count * outputSats - 100_000;
  const made = transaction([coin], [...stocked, { value: rest, to: coin.owner }]);
  const { hash, height } = await chain.mine([made]);
  await putInventoryOutputs(
    pool,
    Array.from({ length: count }, (_, vout) => {
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
