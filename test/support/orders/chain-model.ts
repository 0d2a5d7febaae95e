import { expect } from 'vitest';
import { byText, lowestName, shownEntry, stateOfModel } from '#test/support/chain/runes/model-state.ts';
import type { ModelTransaction } from '#test/support/chain/runes/rune-model.ts';
import { RuneModel } from '#test/support/chain/runes/rune-model.ts';
import { readRuneTables } from '#test/support/chain/runes/rune-tables.ts';
import type { OrderService } from './order-service.ts';

interface NodeTransaction {
  readonly txid: string;
  readonly vin: readonly {
    readonly txid?: string;
    readonly vout?: number;
    readonly txinwitness?: readonly string[];
  }[];
  readonly vout: readonly { readonly scriptPubKey: { readonly hex: string } }[];
}

/**
 * Compares all runes and balances of the index with those that the model finds in the node's blocks. The blocks contain
 * transactions that the service signed, and some of strangers.
 */
export async function expectModelOfChain(service: OrderService): Promise<void> {
  const { rpc } = service.bitcoind;
  const model = new RuneModel(lowestName);
  const tip = await rpc.call<number>('getblockcount');
  for (let height = 0; height <= tip; height++) {
    const hash = await rpc.call<string>('getblockhash', [height]);
    const { tx } = await rpc.call<{ tx: NodeTransaction[] }>('getblock', [hash, 2]);
    model.apply(tx.map(asModel));
  }
  const wanted = stateOfModel(model.state);
  expect(wanted.runes.length).toBeGreaterThan(0);
  await service.eventually(async () => {
    const { rows } = await service.database.pool.query<{ height: number }>(
      'SELECT max(height) AS height FROM chain.blocks',
    );
    return rows[0]?.height === tip;
  });
  const { runes, balances } = await readRuneTables(service.database.pool);
  const idOf = (key: number): string => `${runes[key]!.block}:${runes[key]!.tx}`;
  expect(runes.map(shownEntry)).toEqual(
    wanted.runes.map(({ id, name, premine, shown, terms }) => ({ id, name, premine, shown, terms })),
  );
  const held = new Map<string, string[]>();
  for (const { outpoint, key, amount, spentHeight } of balances) {
    if (spentHeight !== null) continue;
    const place = shownOutpoint(outpoint);
    held.set(place, [...(held.get(place) ?? []), `${idOf(key)} ${amount}`].sort());
  }
  expect([...held].sort(byText)).toEqual(wanted.held);
}

const asModel = ({ txid, vin, vout }: NodeTransaction): ModelTransaction => ({
  txid,
  inputs: vin.map((input) => ({
    outpoint: input.txid === undefined ? '' : `${input.txid}:${input.vout}`,
    pushes: leafPushes(input.txinwitness ?? []),
  })),
  scripts: vout.map(({ scriptPubKey }) => Buffer.from(scriptPubKey.hex, 'hex')),
});

/**
 * Data pushes of the leaf in a witness. The leaf is the script before the control block. No witness here has an annex.
 */
function leafPushes(witness: readonly string[]): string[] | null {
  const leaf = witness.length < 2 ? undefined : witness.at(-2);
  if (leaf === undefined) return null;
  const script = Buffer.from(leaf, 'hex');
  const pushes: string[] = [];
  for (let at = 0; at < script.length; ) {
    const opcode = script[at++]!;
    if (opcode > 78) continue;
    const sizeBytes = { 76: 1, 77: 2, 78: 4 }[opcode] ?? 0;
    if (at + sizeBytes > script.length) break;
    const length = sizeBytes === 0 ? opcode : script.readUIntLE(at, sizeBytes);
    at += sizeBytes;
    if (at + length > script.length) break;
    pushes.push(script.subarray(at, at + length).toString('hex'));
    at += length;
  }
  return pushes;
}

/** Displays a key of the tables: 32 bytes of the txid and four of the output's index. */
const shownOutpoint = (outpoint: string): string => {
  const bytes = Buffer.from(outpoint, 'hex');
  return `${Buffer.from(bytes.subarray(0, 32)).reverse().toString('hex')}:${bytes.readUInt32LE(32)}`;
};
