/**
 * The outputs that a block makes and those that it spends, as flat columns in one transferable buffer beside its
 * BlockColumns. Made only for the address index: it takes the id of every transaction.
 *
 * Layout (little endian): version, and the numbers of transactions, outputs and spends, u32 each; then the columns in
 * the order of the interface. Decoding makes views and copies nothing.
 */
export interface OutputColumns {
  /** Sats, exact. One element an output that can be spent, in block order. */
  readonly value: Float64Array;
  /** Index into `txid`. */
  readonly tx: Uint32Array;
  readonly vout: Uint32Array;
  /** Range of the script in the bytes of the block. */
  readonly scriptStart: Uint32Array;
  readonly scriptLength: Uint32Array;
  /** Offsets in the block of the 36 bytes of outpoints that it spends and that earlier blocks made. */
  readonly spendAt: Uint32Array;
  /** 32 bytes each, internal order: of all transactions. */
  readonly txid: Uint8Array;
  /** 1: spent within the block. */
  readonly spent: Uint8Array;
}

const version = 1;
const headWords = 4;
const hashLength = 32;

interface Sizes {
  readonly transactions: number;
  readonly outputs: number;
  readonly spends: number;
}

/** Columns of these lengths over a buffer that is large enough. */
function columnsOver(buffer: ArrayBuffer, { transactions, outputs, spends }: Sizes): OutputColumns {
  let at = headWords * 4;
  const words = (length: number): Uint32Array => {
    const column = new Uint32Array(buffer, at, length);
    at += length * 4;
    return column;
  };
  const value = new Float64Array(buffer, at, outputs);
  at += outputs * 8;
  const columns = {
    value,
    tx: words(outputs),
    vout: words(outputs),
    scriptStart: words(outputs),
    scriptLength: words(outputs),
    spendAt: words(spends),
  };
  const txid = new Uint8Array(buffer, at, transactions * hashLength);
  at += txid.length;
  return { ...columns, txid, spent: new Uint8Array(buffer, at, outputs) };
}

/** Puts columns into a buffer of just their size. */
export function encodeOutputColumns(columns: OutputColumns): ArrayBuffer {
  const sizes: Sizes = {
    transactions: columns.txid.length / hashLength,
    outputs: columns.value.length,
    spends: columns.spendAt.length,
  };
  const bytes =
    headWords * 4 + sizes.outputs * (8 + 4 * 4 + 1) + sizes.spends * 4 + sizes.transactions * hashLength;
  const buffer = new ArrayBuffer(bytes);
  new Uint32Array(buffer, 0, headWords).set([version, sizes.transactions, sizes.outputs, sizes.spends]);
  const target = columnsOver(buffer, sizes);
  for (const name of Object.keys(target) as (keyof OutputColumns)[]) {
    (target[name] as Uint8Array).set(columns[name] as Uint8Array);
  }
  return buffer;
}

/** Views on encoded columns. Throws where the buffer is none. */
export function decodeOutputColumns(buffer: ArrayBuffer): OutputColumns {
  const [found, transactions = 0, outputs = 0, spends = 0] = new Uint32Array(buffer, 0, headWords);
  if (found !== version) throw new RangeError(`output columns of version ${found}, expected ${version}`);
  return columnsOver(buffer, { transactions, outputs, spends });
}
