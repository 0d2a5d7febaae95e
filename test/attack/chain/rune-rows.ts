import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { networks } from '#kernel/primitives/network.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import { formatRuneId } from '#kernel/runes/rune-id.ts';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { smallU128 } from '#kernel/runes/u128.ts';
import type { Output } from '#test/builders/transaction.ts';
import { type Coin, openScript } from '#test/builders/valid-blocks.ts';
import type { MinedChain } from './mined-chain.ts';

export interface RunesSize {
  readonly etched: number;
  /** Number of holders of one rune. */
  readonly holders: number;
  /** Number of mints of the same rune. All mints are for one address. */
  readonly mints: number;
}

export interface RuneRows {
  readonly etched: number;
  /** The id of the rune that all holders have. */
  readonly held: string;
  /** An address that received units of the rune in very many transactions. */
  readonly minter: string;
  /** The height of the block with the first holders. */
  readonly firstHeight: number;
}

/** Number of holders that one block adds. The history of the rune has one moment for each of these blocks. */
const holdersOfBlock = 2_500;
/** Number of mints in a block. The mints are then at many heights. */
const mintsOfBlock = 1_000;
const satsEach = 546;
const minterScript = openScript(Buffer.alloc(20, 2));

const stoneOf = (stone: Partial<Omit<Runestone, 'kind'>>): Output => ({
  value: 0,
  script: encipher({ kind: 'runestone', edicts: [], etching: null, mint: null, pointer: null, ...stone }),
});

const payment = (script: Uint8Array): Output => ({ value: satsEach, script });

/** The script of one holder. */
function holderScript(index: number): Uint8Array {
  const program = Buffer.alloc(20, 3);
  program.writeUInt32BE(index);
  return openScript(program);
}

/** Etches runes, and gives many holders and many mints to one of them. */
export function makeRunes(chain: MinedChain, { etched, holders, mints }: RunesSize): RuneRows {
  const { id, carrier } = etch(chain, holders * 1000);
  for (let more = 1; more < etched; more++) etch(chain, null);
  const firstHeight = chain.height + 1;
  spread(chain, id, carrier, holders);
  for (let mint = 0; mint < mints; mint++) {
    if (mint % mintsOfBlock === 0) chain.mine();
    chain.pay([stoneOf({ mint: id, pointer: 1 }), payment(minterScript)]);
  }
  const minter = scriptToAddress(minterScript, networks.regtest)!;
  return { etched, held: formatRuneId(id), minter, firstHeight };
}

/** A rune that everyone may mint. The protocol assigns its name. */
function etch(chain: MinedChain, premine: number | null): { readonly id: RuneId; readonly carrier: Coin } {
  const terms = {
    amount: smallU128(1000),
    cap: smallU128(2 ** 40),
    heightStart: null,
    heightEnd: null,
    offsetStart: null,
    offsetEnd: null,
  };
  const etching = {
    divisibility: 2,
    premine: premine === null ? null : smallU128(premine),
    rune: null,
    spacers: null,
    symbol: 0x24,
    terms,
    turbo: false,
  };
  const { height, index } = chain.placeFor(2);
  const [, carrier] = chain.pay([stoneOf({ etching, pointer: 1 }), payment(minterScript)]);
  return { id: { block: smallU128(height), tx: index }, carrier: carrier! };
}

/** Gives units to one holder after another. The carrier keeps the remaining units. */
function spread(chain: MinedChain, id: RuneId, first: Coin, holders: number): void {
  let carrier = first;
  for (let from = 0; from < holders; from += holdersOfBlock) {
    const count = Math.min(holdersOfBlock, holders - from);
    const owned = Array.from({ length: count }, (_, index) => payment(holderScript(from + index)));
    // this index is one above the last output, which is the change, and means that all outputs get the amount
    const output = 2 + count + 1;
    const stone = stoneOf({ edicts: [{ id, amount: smallU128(100 + (from % 700)), output }], pointer: 1 });
    carrier = chain.pay([stone, payment(minterScript), ...owned], [carrier])[1]!;
    chain.mine();
  }
}
