import type { LedgerBlock, LedgerCounters } from '#indexer/ledger/ledger-block.ts';
import { doubleSha256 } from '#indexer/transaction/double-sha256.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { type NetworkParameters, networks } from '#kernel/primitives/network.ts';
import { LedgerStore } from './ledger-store.ts';

/** An output that can be spent. */
export interface Coin {
  readonly txid: Uint8Array;
  readonly vout: number;
  readonly value: number;
}

export interface NewOutput {
  readonly value: number;
  readonly script?: Uint8Array;
}

export interface MadeTransaction {
  /** Display order. */
  readonly txid: string;
  readonly coins: readonly Coin[];
  /** Id of the transaction's n-th inscription. */
  readonly id: (index?: number) => string;
  /** `<txid>:<vout>:<offset>` */
  readonly at: (vout: number, offset: number) => string;
}

const compactSize = (size: number): Buffer => {
  if (size < 0xfd) return Buffer.from([size]);
  const long = Buffer.alloc(3, 0xfd);
  long.writeUInt16LE(size, 1);
  return long;
};
const sized = (bytes: Uint8Array): Buffer => Buffer.concat([compactSize(bytes.length), bytes]);
const u64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

const p2tr = Buffer.concat([Buffer.from([0x51, 0x20]), Buffer.alloc(32, 2)]);

/** A small chain for tests of the ledger. Tests build transactions by hand, and apply complete blocks. */
export class LedgerChain {
  readonly store: LedgerStore;
  height: number;
  readonly #transactions: Buffer[] = [];
  readonly #spent: Buffer[] = [];
  #serial = 0;

  constructor(
    options: { network?: NetworkParameters; height?: number; start?: Partial<LedgerCounters> } = {},
  ) {
    this.height = options.height ?? 0;
    this.store = new LedgerStore(options.network ?? networks.regtest, this.height, options.start);
  }

  /** An output of an earlier block. */
  coin(value: number): Coin {
    return { txid: Uint8Array.from(doubleSha256(u32(this.#serial++))), vout: 0, value };
  }

  /** Adds a transaction to the block. `reveals` has the script that each input reveals, if any. */
  transaction(
    coins: readonly Coin[],
    payments: readonly NewOutput[],
    reveals: readonly (Uint8Array | null)[] = [],
  ): MadeTransaction {
    const made = this.#serialise(coins, payments, reveals);
    this.#transactions.push(made.bytes);
    this.#spent.push(
      Buffer.concat([
        compactSize(coins.length),
        ...coins.map(({ value }) => Buffer.concat([u64(value), sized(p2tr)])),
      ]),
    );
    return made;
  }

  /** Applies the block, and returns the coinbase and the ledger's result. */
  finishBlock(
    payments: readonly NewOutput[] = [{ value: 0 }],
    hasSpent = true,
  ): { coinbase: MadeTransaction; result: LedgerBlock } {
    const nowhere = { txid: new Uint8Array(32), vout: 0xffff_ffff, value: 0 };
    // the height makes every coinbase unique (BIP 34)
    const coinbase = this.#serialise([nowhere], payments, [], u32(this.height));
    const count = compactSize(this.#transactions.length + 1);
    const block = Buffer.concat([Buffer.alloc(80), count, coinbase.bytes, ...this.#transactions]);
    const spent = Buffer.concat([count, compactSize(0), ...this.#spent]);
    this.#transactions.length = 0;
    this.#spent.length = 0;
    const result = this.store.apply(
      this.height++,
      Uint8Array.from(block),
      hasSpent ? Uint8Array.from(spent) : null,
    );
    return { coinbase, result };
  }

  #serialise(
    coins: readonly Coin[],
    payments: readonly NewOutput[],
    reveals: readonly (Uint8Array | null)[],
    scriptSig: Uint8Array = Buffer.alloc(0),
  ): MadeTransaction & { bytes: Buffer } {
    const inputs = coins.map(({ txid, vout }) =>
      Buffer.concat([txid, u32(vout), sized(scriptSig), u32(0xffff_ffff)]),
    );
    const outputs = payments.map(({ value, script }) => Buffer.concat([u64(value), sized(script ?? p2tr)]));
    const body = Buffer.concat([
      compactSize(coins.length),
      ...inputs,
      compactSize(payments.length),
      ...outputs,
    ]);
    const isLegacy = reveals.every((script) => script === null);
    const witnesses = coins.map((_, input) => {
      const script = reveals[input] ?? null;
      if (script === null) return compactSize(0);
      return Buffer.concat([compactSize(2), sized(script), sized(Buffer.alloc(33, 0xc0))]);
    });
    const txid = Uint8Array.from(doubleSha256(Buffer.concat([u32(2), body, u32(0)])));
    const bytes = isLegacy
      ? Buffer.concat([u32(2), body, u32(0)])
      : Buffer.concat([u32(2), Buffer.from([0, 1]), body, ...witnesses, u32(0)]);
    const shown = displayHash(txid);
    return {
      bytes,
      txid: shown,
      coins: payments.map(({ value }, vout) => ({ txid, vout, value })),
      id: (index = 0) => `${shown}i${index}`,
      at: (vout, offset) => `${shown}:${vout}:${offset}`,
    };
  }
}

const push = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from([bytes.length]), bytes]);

/** Fields of an envelope: tag and value. */
export type EnvelopeField = readonly [tag: number, value: Uint8Array];

/** The script of an envelope: its fields, then a body. */
export function envelope(...fields: readonly EnvelopeField[]): Buffer {
  return Buffer.concat([
    Buffer.from([0x00, 0x63]),
    push(Buffer.from('ord')),
    ...fields.flatMap(([tag, value]) => [push(Buffer.from([tag])), push(value)]),
    Buffer.from([0x00]),
    push(Buffer.from('body')),
    Buffer.from([0x68]),
  ]);
}

/** A pointer field. */
export const pointer = (offset: number): EnvelopeField => [2, u64(offset)];

/** A parent field, made from the displayed form of an inscription id. */
export function parent(id: string): EnvelopeField {
  const [txid = '', index = '0'] = id.split('i');
  return [3, Buffer.concat([Buffer.from(txid, 'hex').reverse(), u32(Number(index))])];
}
