import { hash } from 'node:crypto';
import { regtestGenesis } from '#test/builders/block.ts';
import { type BlockFolder, SpentWriter } from '#test/builders/block-folder.ts';
import { type Coin, openScript, ValidBlocks } from '#test/builders/valid-blocks.ts';

/**
 * Constants for blocks of transfers, on top of a chain whose inscriptions `tracked-database.ts` wrote into the tables.
 */
export const transferPlan = {
  /** Height of the block that has the synthetic inscriptions. */
  filledHeight: 2,
  warmUpBlocks: 5,
  measuredBlocks: 50,
  transfersPerBlock: 2000,
} as const;

/** Number of synthetic outputs that the blocks spend. The last blocks spend outputs that the first blocks created. */
export const spentOutputs = transferPlan.measuredBlocks * transferPlan.transfersPerBlock;

const postageSats = 10_000;
const feeSats = 20;

/** Output `index` of those that blocks will spend. It is the first output of an invented transaction. */
export function syntheticCoin(index: number): Coin {
  const number = Buffer.alloc(4);
  number.writeUInt32LE(index);
  const txid = hash('sha256', Buffer.concat([Buffer.from('tracked'), number]), 'buffer');
  return { txid, vout: 0, value: postageSats, script: openScript(txid) };
}

/**
 * Writes two empty blocks, and then the blocks of transfers. Each transfer has one input and one output, and the keys
 * come in mixed order.
 */
export function generateTransferChain(folder: BlockFolder): void {
  const { filledHeight, warmUpBlocks, measuredBlocks, transfersPerBlock } = transferPlan;
  const blocks = new ValidBlocks();
  const spent = new SpentWriter();
  folder.add(0, regtestGenesis, spent.finish());
  const mine = (): void => {
    const block = blocks.mine({ coinbaseScript: openScript(Buffer.alloc(20, 1)) });
    folder.add(block.height, block, spent.finish());
  };
  for (let height = 1; height <= filledHeight; height++) mine();
  const moved: Coin[] = [];
  let next = 0;
  const coinOf = (): Coin => {
    if (next === spentOutputs) return moved.shift() as Coin;
    // with a prime step, every output comes once, far from the one before
    return syntheticCoin((next++ * 61_813) % spentOutputs);
  };
  for (let block = 0; block < warmUpBlocks + measuredBlocks; block++) {
    for (let count = 0; count < transfersPerBlock; count++) {
      const coin = coinOf();
      const script = openScript(hash('sha256', coin.txid, 'buffer'));
      const made = blocks.spend(
        [{ coin, witness: [new Uint8Array(64)] }],
        [{ value: coin.value - feeSats, script }],
      );
      spent.add([coin]);
      if (block < warmUpBlocks) moved.push(...made);
    }
    mine();
  }
  folder.finish(false, { ...transferPlan });
}
