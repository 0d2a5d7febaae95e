import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import type { BatchRpc } from '#kernel/contracts/node.ts';
import { plainEtching, type Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { asU128, smallU128 } from '#kernel/runes/u128.ts';
import { type DemoCoins, type DemoOutput, openDescriptor } from './demo-coins.ts';

/** The rune SATSCRIBE•DEMO•COIN of the sample. A mint yields 1,000 units, and the rune is far from its cap. */
const openRune = { block: smallU128(109), tx: 9 };
/** Number of mints. Ten orders of a thousand units each can then wait for the next block at the same time. */
const mints = 10;
/** Sats of an output that holds rune units. They are above the dust limit of any address. */
const runeSats = 10_000;
/**
 * Number of coins without runes, and the sats of each. Several coins are needed, because some payments wait for a block
 * while others are made.
 */
const [plainCoins, plainSats] = [10, 1_000_000];
/** Units of a second rune, for tests in which a customer sends the wrong rune. */
const otherUnits = 1_000_000;

const blank: Runestone = { kind: 'runestone', edicts: [], etching: null, mint: null, pointer: null };
const stone = (parts: Partial<Runestone>): DemoOutput => ({
  script: encipher({ ...blank, ...parts }),
  sats: 0,
});

/**
 * Funds the wallet for test payments of shops (docs/tokenpay.md, "Test payments"). One block gives it units of a rune
 * of the sample, units of another rune, and sats. A wallet that already has funds is not changed. Returns false if the
 * demo has too few coins left.
 */
export async function fillTestWallet(rpc: BatchRpc, coins: DemoCoins, script: Uint8Array): Promise<boolean> {
  const descriptor = `raw(${Buffer.from(script).toString('hex')})`;
  const { unspents } = await rpc.call<{ unspents: readonly unknown[] }>('scantxoutset', [
    'start',
    [descriptor],
  ]);
  if (unspents.length > 0) return true;
  try {
    await sendAll(coins, script);
  } catch (error) {
    if (error instanceof InvalidRequest) return false;
    throw error;
  }
  await rpc.call('generatetodescriptor', [1, openDescriptor]);
  return true;
}

async function sendAll(coins: DemoCoins, script: Uint8Array): Promise<void> {
  const beneath = { script, sats: runeSats };
  for (let count = 0; count < mints; count++) await coins.send([beneath, stone({ mint: openRune })]);
  await coins.send([beneath, stone({ etching: { ...plainEtching, premine: asU128(otherUnits) } })]);
  await coins.send(Array.from({ length: plainCoins }, () => ({ script, sats: plainSats })));
}
